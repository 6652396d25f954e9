/**
 * Property `any-json` (§8.5, §10.1): any JSON as payload, and any JSON as batch. A payload is stored
 * when it is a signal and refused as payload_not_signal when not; an item of a batch is judged by
 * itself, whatever the others are. What ought to be comes from json_oracle.ts.
 */
import fc from 'fast-check';
import type { Observation, Session } from '../../types.ts';
import { loadAnswers, readAnswer, type Answers } from './answers.ts';
import { attempt, changes, prepareAttempts, rawError, type State } from './attempt.ts';
import { assertions, count, type Finding } from './findings.ts';
import type { Given } from './given.ts';
import { isSignal, opinionOf } from './json_oracle.ts';
import { anyText, entriesText, jsonText } from './json_text.ts';
import type { AnyJsonFile } from './schema.ts';
import { search, type Problem } from './search.ts';
import { isObject, refuses } from './shape.ts';
import { textLiteral } from './sql_text.ts';
import { openStage } from './stage.ts';

const RAW = 'no JSON raises a raw error';
const ANSWER = 'every answer is a coded refusal or the documented effect';
const UNCHANGED = 'a call that is refused as a whole changes nothing but its own audit row';
const SIGNAL = 'a signal is stored, and anything else is refused as payload_not_signal';
const ITEM = 'a good item is stored and a bad one refused, each by itself';

const EXECUTOR = 'dot_iu';
const KEYS = [
  ...['job_kind', 'event_domain', 'executor', 'idempotency_key'],
  ...['payload', 'priority', 'process_after', 'actor'],
];

type Call = {
  name: string;
  /** The call with this JSON, as SQL. */
  sql(json: string): string;
  /** What the contract has to say beyond the form of the answer. `text` is the server's own. */
  judge(answer: unknown, text: string): Problem | undefined;
};

const payloadCall: Call = {
  name: 'fn_job_enqueue',
  sql: (json) =>
    `public.fn_job_enqueue('any_json', 'tests', '${EXECUTOR}', 'fresh', (${json})::jsonb)`,
  judge(answer, text) {
    const due = isSignal(text) ? 'created' : 'refused as payload_not_signal';
    const got = refuses(answer)
      ? `refused as ${String(answer.reason)}`
      : isObject(answer) && answer.created === true
        ? 'created'
        : JSON.stringify(answer);
    return got === due ? undefined : { breaks: SIGNAL, expected: due, seen: got };
  },
};

const batchCall: Call = {
  name: 'fn_job_enqueue_batch',
  sql: (json) => `public.fn_job_enqueue_batch((${json})::jsonb, 'tester')`,
  judge(answer, text) {
    const items: unknown = JSON.parse(text);
    const wrong = (expected: string, seen: string): Problem => ({ breaks: ITEM, expected, seen });
    const whole = Array.isArray(items) && items.length <= 1000;
    if (refuses(answer) === whole)
      return wrong(whole ? 'results' : 'a refusal of the batch', JSON.stringify(answer));
    if (!whole || !isObject(answer) || !Array.isArray(answer.results)) return undefined;
    const results: unknown[] = answer.results;
    if (results.length !== items.length)
      return wrong(`${items.length} results`, `${results.length}`);
    // Inside the limit as a whole, so each payload is: its size needs no second look.
    if (Buffer.byteLength(text) > 8192) return undefined;
    for (const [index, item] of items.entries()) {
      const result = results[index];
      const refused = refuses(result);
      // The code for a row that cannot be written: no JSON may get that far.
      if (refused && result.reason === 'item_failed')
        return { breaks: RAW, expected: 'a refusal of its own', seen: JSON.stringify(result) };
      // Another item of the batch may have the key already: then a good item conflicts.
      const own = refused && result.reason !== 'idempotency_conflict';
      const opinion = opinionOf(item, EXECUTOR);
      if ((opinion === 'good' && own) || (opinion === 'bad' && !own))
        return wrong(
          `item ${index} ${opinion === 'good' ? 'stored' : 'refused'}`,
          JSON.stringify(result),
        );
    }
    return undefined;
  },
};

export async function* anyJson({
  data,
  sandbox,
  run,
}: Given<AnyJsonFile>): AsyncGenerator<Observation> {
  await using session = await openStage(sandbox, 'any JSON', data.setup);
  const before = await prepareAttempts(session);
  const answers = await loadAnswers(run.root);
  const findings: Finding[] = [];
  const plans = [
    { call: payloadCall, hostile: data.payload, random: jsonText() },
    { call: batchCall, hostile: [...data.payload, ...data.jobs], random: batchText() },
  ];
  for (const { call, hostile, random } of plans) {
    run.progress(call.name);
    const found = await search(
      {
        hostile,
        random: random.map((text) => textLiteral(text)),
        runs: data.runs,
        run,
      },
      (json) => judged(call, json, { session, before, answers }),
    );
    yield count('calls', found.tried);
    if (found.counterexample === undefined) continue;
    const { value, problem } = found.counterexample;
    findings.push({
      ...problem,
      seen: `${call.name}: ${problem.seen}`,
      sql: [`select ${call.sql(value)}`],
    });
  }
  const how = { setup: data.setup, seed: run.seed };
  yield* assertions([RAW, ANSWER, UNCHANGED, SIGNAL, ITEM], findings, how);
}

async function judged(
  call: Call,
  json: string,
  { session, before, answers }: { session: Session; before: State; answers: Answers },
): Promise<Problem | undefined> {
  // An expression that is no jsonb raises here, outside the call: that is the file's mistake.
  const [row] = await session.query<{ text: string }>(`select (${json})::jsonb::text as text`);
  const seen = await attempt(session, `select ${call.sql(json)}`);
  const raw = rawError(seen);
  if (raw !== undefined) return { breaks: RAW, expected: 'an answer', seen: raw };
  const { refusal, problem } = readAnswer({ name: call.name, returnsRows: false }, seen, answers);
  if (problem !== undefined)
    return { breaks: ANSWER, expected: 'what answers.yaml documents for it', seen: problem };
  const changed = refusal === undefined ? [] : changes(before, seen.state);
  if (changed.length > 0)
    return { breaks: UNCHANGED, expected: 'no table changed', seen: changed.join(', ') };
  return call.judge(seen.answer, row?.text ?? '');
}

/** A batch: mostly items with the right keys, some of whose values are anything. */
function batchText(): fc.Arbitrary<string> {
  const any = jsonText(KEYS);
  const item = fc
    .tuple(
      fc.tuple(...KEYS.map((key) => fc.oneof(...weighed(key, any)))),
      fc.array(fc.tuple(fc.oneof(anyText, fc.constantFrom(...KEYS, 'p_payload')), any), {
        maxLength: 1,
      }),
    )
    .map(([values, more]) =>
      entriesText([
        ...values.flatMap((value, index): [string, string][] =>
          value === undefined ? [] : [[KEYS[index] ?? '', value]],
        ),
        ...more,
      ]),
    );
  const items = fc.array(fc.oneof({ weight: 8, arbitrary: item }, { weight: 1, arbitrary: any }), {
    maxLength: 6,
  });
  return fc.oneof(
    { weight: 8, arbitrary: items.map((texts) => `[${texts.join(',')}]`) },
    { weight: 1, arbitrary: any },
  );
}

const GOOD: Readonly<Record<string, readonly string[]>> = {
  job_kind: ['"any_json"', '"other_kind"'],
  event_domain: ['"tests"'],
  executor: [`"${EXECUTOR}"`],
  idempotency_key: ['"a"', '"b"', '"c"', '"live"', '"é"'],
  payload: ['{}', '{"ref":1}', '{"ref":[1,2,3]}'],
};

function weighed(
  key: string,
  any: fc.Arbitrary<string>,
): fc.WeightedArbitrary<string | undefined>[] {
  const good = GOOD[key];
  const nothing = { weight: good ? 1 : 20, arbitrary: fc.constant(undefined) };
  const anything = { weight: 2, arbitrary: any };
  return good
    ? [{ weight: 30, arbitrary: fc.constantFrom(...good) }, nothing, anything]
    : [nothing, anything];
}
