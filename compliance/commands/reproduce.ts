/** The command that runs one check again, as it was run. Pure. */
import type { GateOptions } from './gate.ts';

/** `./scripts/dieu45 gate --only s8.3.killed-worker-is-reaped --seed 7`, with what else matters. */
export function reproduceCommand(
  self: string,
  checkId: string,
  seed: number,
  options: Pick<GateOptions, 'target' | 'manifest' | 'sql' | 'release' | 'reuseRoles'>,
): string {
  const kept = (['target', 'manifest', 'sql', 'release'] as const).flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [`--${name}`, quoted(withoutPassword(value))];
  });
  if (options.reuseRoles === true) kept.push('--reuse-roles');
  return [self, 'gate', '--only', checkId, '--seed', String(seed), ...kept].join(' ');
}

/** A target as it may stand in a report: no password, host, user or folder. */
export function publicTargetName(target: string): string {
  if (/^postgres(ql)?:/i.test(target)) return 'url';
  return target.startsWith('local:') ? 'local' : target;
}

function withoutPassword(value: string): string {
  if (!URL.canParse(value) || !/^postgres(ql)?:/i.test(value)) return value;
  const url = new URL(value);
  if (url.password === '' && !url.searchParams.has('password')) return value;
  url.password = '';
  url.searchParams.delete('password');
  return url.href;
}

function quoted(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}
