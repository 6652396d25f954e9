/**
 * Property `config` (§15.5, §8.5): whatever is written over a setting, it is refused at the write or
 * named by the gap view; and where a bad value stands all the same, what starts a job refuses as
 * config_invalid and whatever ends a lease works, on the default.
 */
import fc from 'fast-check';
import { CoverageError } from '../../errors.ts';
import type { Observation, Session } from '../../types.ts';
import {
  IN_FORCE,
  judgeWrite,
  sqlOf,
  WRITTEN,
  type Change,
  type Key,
  type Write,
} from './config_write.ts';
import { assertions, count, type Finding } from './findings.ts';
import type { Given } from './given.ts';
import { anyText } from './json_text.ts';
import { difference, perform, type Step, type Told } from './lifecycle.ts';
import type { ConfigFile } from './schema.ts';
import { search } from './search.ts';
import { textLiteral } from './sql_text.ts';
import { openStage, undone } from './stage.ts';

const REFUSED = 'with a bad value there, what starts a job answers config_invalid with its key';
const ENDS = 'with a bad or missing value there, whatever ends a lease works, on the default';

export async function* config({
  data,
  sandbox,
  run,
}: Given<ConfigFile>): AsyncGenerator<Observation> {
  await using session = await openStage(sandbox, 'config', data.setup);
  const keys = await session.query<Key>(
    'select c.key, c.default_value from public.v_queue_config c order by c.key',
  );
  if (keys.length === 0) throw new CoverageError('v_queue_config shows no key');
  const findings: Finding[] = [];

  const found = await search(
    {
      hostile: keys.flatMap((key) => writesOf(key, keys, data)),
      sample: data.sample,
      random: fc.record({
        key: fc.constantFrom(...keys),
        change: anyText.map((value): Change => ({ is: 'set', value, bad: false })),
        byHand: fc.boolean(),
      }),
      runs: data.runs,
      run,
    },
    (write) => judgeWrite(session, write),
  );
  if (found.counterexample !== undefined) {
    const { value, problem } = found.counterexample;
    const seen = `${value.key.key}: ${problem.seen}`;
    findings.push({ ...problem, seen, sql: [sqlOf(value)] });
  }

  const calm = await undone(session, () => perform(session, data.ends));
  refuseFailing(calm);
  for (const key of keys) {
    run.signal.throwIfAborted();
    run.progress(key.key);
    findings.push(...(await planted(session, key, calm, data)));
  }
  yield count('keys', keys.length);
  yield count('writes', found.tried);
  yield* assertions([WRITTEN, IN_FORCE, REFUSED, ENDS], findings, {
    setup: data.setup,
    seed: run.seed,
  });
}

/**
 * Every bad value, no value, no row, and a slip of the hand in every part of the key but its family.
 * A kind's own key may go, and may be meant for another kind: then its family's default applies.
 */
function writesOf(key: Key, keys: readonly Key[], { bad }: ConfigFile): Write[] {
  const family = key.key.split('.').slice(0, 2).join('.').length + 1;
  const slips = [family, Math.floor((family + key.key.length) / 2), key.key.length - 1].map(
    (place): Change => ({ is: 'rename', to: key.key.slice(0, place) + key.key.slice(place + 1) }),
  );
  const common = keys.some((other) => other.key === key.key.replace(/[^.]+$/, 'default'));
  const own = common && !key.key.endsWith('.default');
  const byHand: Change[] = own ? [] : [{ is: 'delete' }, ...slips];
  return [
    ...bad.flatMap((value): Write[] => [
      { key, change: { is: 'set', value, bad: true }, byHand: true },
      { key, change: { is: 'set', value, bad: true }, byHand: false },
    ]),
    ...nextTo(key).map((value): Write => ({
      key,
      change: { is: 'set', value, bad: false },
      byHand: false,
    })),
    { key, change: { is: 'null' }, byHand: true },
    ...(own ? [] : [{ key, change: { is: 'null' as const }, byHand: false }]),
    ...byHand.map((change): Write => ({ key, change, byHand: true })),
  ];
}

/** Other values that may well be good: they must be refused, or be in force. */
function nextTo({ default_value: value }: Key): string[] {
  if (value === 'true' || value === 'false') return [value === 'true' ? 'false' : 'true'];
  return /^\d+$/.test(value) ? [String(Number(value) + 1), String(Number(value) - 1)] : [];
}

function refuseFailing(calm: readonly Told[]): void {
  const failing = calm.find(({ answer }) => /^(SQLSTATE|D4500)|"refused":true/.test(answer));
  if (failing !== undefined)
    throw new CoverageError(`with a good configuration ${failing.sql} answers ${failing.answer}`);
}

/** One key whose value is bad, or gone, where no trigger could refuse it. */
async function planted(
  session: Session,
  { key }: Key,
  calm: readonly Told[],
  { starts, ends, bad }: ConfigFile,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const values = [...bad.slice(0, 2).map(textLiteral), undefined];
  for (const value of values) {
    const plant = plantText(key, value);
    await undone(session, async () => {
      await session.query(plant);
      if (value !== undefined) findings.push(...(await refusals(session, key, starts, plant)));
      const differs = difference(calm, await perform(session, ends));
      if (differs === undefined) return;
      const { sql, expected, seen } = differs;
      findings.push({
        breaks: ENDS,
        expected,
        seen: `${key}: ${seen}, to ${sql}`,
        sql: [plant, ...ends.map((step) => step.sql)],
      });
    });
  }
  return findings;
}

function plantText(key: string, value: string | undefined): string {
  const change =
    value === undefined
      ? `delete from public.dot_config where key = ${textLiteral(key)}`
      : `update public.dot_config set value = ${value} where key = ${textLiteral(key)}`;
  return `set local session_replication_role = replica; ${change}; set local session_replication_role = origin`;
}

async function refusals(
  session: Session,
  key: string,
  starts: ConfigFile['starts'],
  plant: string,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { needs, ...step } of starts) {
    const [told] = await undone(session, () => perform(session, [step satisfies Step]));
    const seen = told?.answer ?? 'nothing';
    const refused = seen.includes('config_invalid');
    const due = needs.includes(key);
    if (
      refused === due &&
      (!due || seen.includes(`"key":"${key}"`) || seen.includes(`"key": "${key}"`))
    )
      continue;
    const expected = due ? `config_invalid, with the key ${key}` : 'no config_invalid';
    findings.push({ breaks: REFUSED, expected, seen: `${key}: ${seen}`, sql: [plant, step.sql] });
  }
  return findings;
}
