/** What people read of a mutant and the check that caught it. Pure. */
import { firstBreach, type Fate, type Hunted } from './hunt.ts';
import type { Change } from './mutant.ts';
import type { Style } from '../report/style.ts';

const words: Readonly<Record<Fate, string>> = {
  killed: '✓ killed by',
  killed_elsewhere: '✗ killed only by another clause,',
  survived: '✗ survived',
  stale: '✗ stale:',
  refused: '✗ refused by the server:',
  error: '✗ not judged:',
};

/** `✓ F36a killed by s8.3.reap-against-claim · 1.2 s`. */
export function proofLine(
  { mutant, fate, killers, because, executions, elapsedMs }: Hunted,
  style: Style,
): string {
  const by = killers[0]?.spec.id ?? because[0] ?? `all ${executions} executions`;
  const text = `${words[fate]} ${by}`;
  const time = style.dim(`${mutant.title} · ${(elapsedMs / 1000).toFixed(1)} s`);
  return `${mutant.id.padEnd(5)} ${mutant.clause.padEnd(9)} ${fate === 'killed' ? text : style.red(text)}  ${time}`;
}

/** The change, the harm, and what the check saw. */
export function proofDetails({ mutant, killers }: Hunted): string[] {
  const [killer] = killers;
  const breach = killer && firstBreach(killer);
  return [
    `  ${mutant.harm} (${mutant.seen_in.join(', ')})`,
    ...mutant.changes.flatMap(diffOf).map((text) => `  ${text}`),
    ...(killer === undefined ? [] : [`  caught by ${killer.spec.id}: ${killer.spec.title}`]),
    ...(breach === undefined
      ? (killer?.verdict.reasons ?? []).map((reason) => `    ${reason}`)
      : [
          `    ${breach.name}`,
          ...(breach.expected === undefined ? [] : [`    expected  ${breach.expected}`]),
          ...(breach.seen === undefined ? [] : [`    seen      ${breach.seen}`]),
          ...(breach.trace ?? []).map((step) => `    ${step}`),
        ]),
    '',
  ];
}

function diffOf(change: Change): string[] {
  if ('sql' in change) return change.sql.split('\n').map((text) => `+ ${text}`);
  return [
    `@@ ${change.function}`,
    ...change.find.split('\n').map((text) => `- ${text}`),
    ...change.replace.split('\n').map((text) => `+ ${text}`),
  ];
}
