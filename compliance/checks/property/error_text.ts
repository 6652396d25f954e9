/**
 * Property `error-text` (§8.4, §8.5): whatever the error code and message of a failure hold, the
 * transition happens, and what is kept of the texts is cut, clean, and true to what was given.
 */
import fc from 'fast-check';
import { messageOf } from '../../errors.ts';
import type { Observation, Session } from '../../types.ts';
import { assertions, count, type Finding } from './findings.ts';
import type { Given } from './given.ts';
import { anyText } from './json_text.ts';
import type { ErrorTextFile } from './schema.ts';
import { search, type Problem } from './search.ts';
import { charLength, textLiteral } from './sql_text.ts';
import { openStage, undone } from './stage.ts';

const MOVED = 'every failure makes its transition, whatever its texts hold';
const KEPT = 'what is kept of the texts is cut, clean and true';

/** Job of the set-up → where its failure leads. */
const paths = [
  { job: 'below', fn: 'fn_job_fail_transient', to: 'retry_waiting' },
  { job: 'at_limit', fn: 'fn_job_fail_transient', to: 'dead_letter' },
  { job: 'permanent', fn: 'fn_job_fail_permanent', to: 'dead_letter' },
  { job: 'moved', fn: 'fn_job_move_to_dead_letter', to: 'dead_letter' },
] as const;
type Path = (typeof paths)[number];
type Case = { path: Path; code: string; message: string };
type Answer = { refused?: boolean; status_to?: string };

export async function* errorText({
  data,
  sandbox,
  run,
}: Given<ErrorTextFile>): AsyncGenerator<Observation> {
  await using session = await openStage(sandbox, 'error text', data.setup);
  const text = fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(...data.texts) },
    { weight: 3, arbitrary: anyText.map(textLiteral) },
    {
      weight: 1,
      arbitrary: fc.string({ unit: 'binary', minLength: 90, maxLength: 110 }).map(clean),
    },
  );
  const found = await search<Case>(
    {
      hostile: paths.flatMap((path) =>
        data.texts.flatMap((one) => [
          { path, code: one, message: "'it failed'" },
          { path, code: "'E'", message: one },
        ]),
      ),
      random: fc.record({ path: fc.constantFrom(...paths), code: text, message: text }),
      runs: data.runs,
      run,
    },
    (one) => undone(session, () => judged(session, one)),
  );
  yield count('failures', found.tried);
  const findings: Finding[] = [];
  if (found.counterexample !== undefined) {
    const { value, problem } = found.counterexample;
    findings.push({
      ...problem,
      seen: `${value.path.fn}: ${problem.seen}`,
      sql: [sqlOf(value)],
    });
  }
  yield* assertions([MOVED, KEPT], findings, { setup: data.setup, seed: run.seed });
}

/** No text of PostgreSQL holds a NUL. */
function clean(text: string): string {
  return textLiteral(text.replaceAll('\0', ' '));
}

function sqlOf({ path, code, message }: Case): string {
  const token = path.job === 'moved' ? '' : ' q.lease_token,';
  return `select public.${path.fn}(q.job_id,${token} (${code})::text, (${message})::text) as answer
    from public.job_queue q where q.job_kind = '${path.job}'`;
}

async function judged(session: Session, one: Case): Promise<Problem | undefined> {
  let answer: Answer | undefined;
  try {
    const [row] = await session.query<{ answer: Answer }>(sqlOf(one));
    answer = row?.answer;
  } catch (error) {
    return { breaks: MOVED, expected: one.path.to, seen: messageOf(error) };
  }
  if (answer?.refused !== false || answer.status_to !== one.path.to)
    return { breaks: MOVED, expected: one.path.to, seen: JSON.stringify(answer) };
  const [kept] = await session.query<Kept>(keptSql(one), [one.path.job]);
  if (kept === undefined) throw new Error(`there is no job ${one.path.job}`);
  if (kept.status !== one.path.to)
    return { breaks: MOVED, expected: one.path.to, seen: `the row is ${kept.status}` };
  const problem = keptProblem(one.path, kept);
  return problem && { breaks: KEPT, ...problem };
}

type Kept = {
  status: string;
  /** As given, cut by the server to one character more than what is kept. */
  code: string | null;
  message: string | null;
  last_error: string;
  failure_code: string | null;
  failure_detail: string | null;
};

const keptSql = ({ code, message }: Case): string => `
  select q.status,
         left((${code})::text, 101) as code,
         left((${message})::text, 4001) as message,
         q.last_error,
         d.failure_code,
         d.failure_detail
    from public.job_queue q
    left join public.job_dead_letter d on d.job_id = q.job_id
   where q.job_kind = $1`;

function keptProblem(path: Path, kept: Kept): Omit<Problem, 'breaks'> | undefined {
  const texts: [string, string | null, string | null, number][] = [
    ['last_error', kept.last_error, null, 4_200],
    ...(path.to === 'dead_letter'
      ? ([
          ['failure_code', kept.failure_code, kept.code, 100],
          ['failure_detail', kept.failure_detail, kept.message, 4_000],
        ] as [string, string | null, string | null, number][])
      : []),
  ];
  for (const [column, text, given, longest] of texts) {
    const shown = JSON.stringify(text).slice(0, 200);
    if (column === 'failure_code' && (text === null || text === ''))
      return { expected: 'a failure code', seen: `failure_code is ${shown}` };
    if (text === null) continue;
    if (charLength(text) > longest)
      return {
        expected: `${column} of at most ${longest} characters`,
        seen: `${charLength(text)}`,
      };
    // A tab and a line feed may stay: they are how messages are laid out.
    if (/[\u0001-\u0008\u000b-\u001f\u007f-\u009f]/u.test(text))
      return { expected: `${column} without control characters`, seen: shown };
    if (given !== null && isPlain(given, longest) && text !== given)
      return { expected: `${column} ${JSON.stringify(given)}`, seen: shown };
  }
  if (kept.failure_code !== null && kept.code === null && kept.failure_code !== 'unspecified')
    return { expected: 'failure_code unspecified', seen: kept.failure_code };
  return undefined;
}

/** A text that needs neither cutting nor cleaning is kept as it is. */
function isPlain(given: string, longest: number): boolean {
  return (
    charLength(given) <= longest && given.trim() === given && given !== '' && !/\p{Cc}/u.test(given)
  );
}
