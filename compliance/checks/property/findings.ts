/** From counterexamples to observations: one assertion each, broken ones with what a person can paste. */
import type { Observation } from '../../types.ts';
import { oneLine } from './sql_text.ts';
import type { Problem } from './search.ts';

export type Finding = Problem & {
  /** Statements that show it, in order, after the set-up. */
  sql: readonly string[];
};

/** Every assertion of a property, in order, with the findings that break it. */
export function assertions(
  names: readonly string[],
  findings: readonly Finding[],
  { setup, seed }: { setup: readonly string[]; seed: number },
): Observation[] {
  const stray = findings.find(({ breaks }) => !names.includes(breaks));
  if (stray !== undefined) throw new Error(`no assertion is called "${stray.breaks}"`);
  return names.map((name): Observation => {
    const mine = findings.filter(({ breaks }) => breaks === name);
    const [first] = mine;
    if (first === undefined) return { is: 'assertion', name, ok: true };
    const more = mine.length > 1 ? ` (and ${mine.length - 1} more)` : '';
    return {
      is: 'assertion',
      name,
      ok: false,
      expected: first.expected,
      seen: `${first.seen}${more}`,
      trace: [
        `-- found with seed ${seed}, smallest first`,
        'begin;',
        ...setup.map((sql) => statement(sql)),
        ...mine.flatMap(({ seen, sql }) => [`-- ${oneLine(seen, 300)}`, ...sql.map(statement)]),
        'rollback;',
      ],
    };
  });
}

function statement(sql: string): string {
  const flat = oneLine(sql);
  return flat.endsWith(';') || flat.startsWith('--') ? flat : `${flat};`;
}

export function count(name: string, value: number): Observation {
  return { is: 'count', name, value };
}
