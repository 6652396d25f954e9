/** From checks to executions: which run, together with which, and which cannot run here. Pure. */
import { outsideRelease } from '../manifest/release.ts';
import type { CheckSpec, Clause, Kind, Need, Task, Verdict } from '../types.ts';
import type { SelectedClause } from './select.ts';

/** A check that is settled without running: planned, or beyond what the target can do. */
export type Settled = { spec: CheckSpec; verdict: Verdict };
export type Given = { can: ReadonlySet<Need>; release: string };
export type Plan = { tasks: readonly Task[]; settled: readonly Settled[] };

const lacks: Readonly<Record<Need, string>> = {
  own_server: 'the target cannot start a server for one check alone',
  superuser: 'the target gives no superuser',
  server_kill: 'the target cannot kill its server',
  extension_files: "the target cannot write into the server's extension folder",
  pgtap: 'the target has no pgTAP and cannot be given it',
};

/** What the most able target can do: what is still settled then needs no server. */
export const everything: ReadonlySet<Need> = new Set(Object.keys(lacks) as Need[]);

/**
 * Groups checks of the same kind, file and `params.run` into one task, in the order of the
 * manifest. Whether a check applies is decided here, from the release and from what the target can
 * do, never by the check itself.
 */
export function plan(selected: readonly SelectedClause[], given: Given): Plan {
  const settled: Settled[] = [];
  const groups = new Map<string, CheckSpec[]>();
  for (const { clause, spec } of flatten(selected)) {
    const verdict = settle(clause, spec, given);
    if (verdict !== undefined) {
      settled.push({ spec, verdict });
      continue;
    }
    const key = taskKey(spec);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [spec]);
    else group.push(spec);
  }
  return { tasks: [...groups.values()].map(taskOf), settled };
}

/** What two checks have in common that share one execution. */
export function taskKey({ kind, file, params }: CheckSpec): string {
  return JSON.stringify([kind, file, canonical(params.run)]);
}

/** A name for people: `race selftest/races/claim.yaml`. */
export function taskName({ kind, file }: Task): string {
  return file === '' ? kind : `${kind} ${file}`;
}

/** How long a task may take: as long as the most patient of its checks. */
export function limitOf({ specs }: Task): number {
  return Math.max(...specs.map(({ limitMs }) => limitMs));
}

/** How long a task of each kind takes, roughly and against each other: the long ones start first. */
const weights: Readonly<Record<Kind, number>> = {
  timed: 9,
  claimers: 8,
  explore: 7,
  matrix: 6,
  property: 5,
  plan: 4,
  race: 3,
  pgtap: 2,
  catalog: 1,
};

/** The heavier, the earlier: by kind, and within a kind by how many checks hang on it. */
export function weightOf({ kind, specs }: Task): number {
  return weights[kind] + Math.min(specs.length, 99) / 100;
}

/** Whether a task mostly waits for the wall clock; it then holds no working slot. */
export function waits({ kind }: Task): boolean {
  return kind === 'timed';
}

/** A server of its own: asked for, or about to be killed under the check. */
export function wantsOwnServer({ specs }: Task): boolean {
  return specs.some(({ needs }) => needs.includes('own_server') || needs.includes('server_kill'));
}

function flatten(selected: readonly SelectedClause[]): { clause: Clause; spec: CheckSpec }[] {
  return selected.flatMap(({ clause, specs }) => specs.map((spec) => ({ clause, spec })));
}

function settle(clause: Clause, spec: CheckSpec, { can, release }: Given): Verdict | undefined {
  const outside = outsideRelease(spec, release) ?? outsideRelease(clause, release);
  if (outside !== undefined)
    return { status: 'not_applicable', by: 'manifest', reasons: [outside] };
  if (spec.planned !== undefined) return { status: 'not_reviewed', reasons: [spec.planned] };
  const unmet = spec.needs.filter((need) => !can.has(need));
  if (unmet.length === 0) return undefined;
  return { status: 'not_applicable', by: 'target', reasons: unmet.map((need) => lacks[need]) };
}

function taskOf(specs: CheckSpec[]): Task {
  const [first] = specs;
  if (first === undefined) throw new Error('a task without a check');
  return { kind: first.kind, file: first.file, specs };
}

/** The same value whatever the order of its keys. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, canonical(inner)]),
  );
}
