/** Drives one job through its steps, in the session's open transaction. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { shiftWithin } from '../../sandbox/shift.ts';
import { plantWithin } from '../../sandbox/silently.ts';
import type { Session } from '../../types.ts';
import { missingContractObject } from '../missing.ts';
import type { Json, JsonObject } from './json.ts';
import { isObject } from './json.ts';
import { endingOf, stepText, type Step } from './steps.ts';

export type Job = {
  name: string;
  /** Empty for a job that no step has enqueued. */
  id: string;
  kind: string;
  /** One token a claim, in order. */
  tokens: string[];
  /** What each claim's ending answered, in order; null where the reaper ended it. */
  outcomes: Json[];
  /** Steps that did not do what they are there for, and what they answered. */
  trouble: string[];
};

export type Settings = Readonly<Record<string, string>>;

/** Configuration as an operator sets it. @throws when it is refused: the file asks for nonsense. */
export async function configure(session: Session, settings: Settings): Promise<void> {
  for (const [key, value] of Object.entries(settings)) {
    const answer = await answerOf(session, 'public.fn_job_config_set($1, $2, $3)', [
      key,
      value,
      ACTOR,
    ]);
    if (isObject(answer) && answer.refused === false) continue;
    throw new Error(`${key} cannot be set to ${value}: ${JSON.stringify(answer)}`);
  }
}

/**
 * Brings a job under way; its name is its kind and its key, so that it is alone in both. A step that
 * is refused does not stop it: the trouble is told, and what depends on it fails by itself.
 */
export async function drive(session: Session, name: string, steps: readonly Step[]): Promise<Job> {
  const job: Job = { name, id: '', kind: name, tokens: [], outcomes: [], trouble: [] };
  for (const step of steps) await take(session, job, step);
  return job;
}

/** Takes one more step. A raw error is trouble like a refusal, unless it says that a part is missing. */
export async function take(session: Session, job: Job, step: Step): Promise<void> {
  await session.query('savepoint step');
  try {
    await perform(session, job, step);
    await session.query('release savepoint step');
  } catch (thrown) {
    if (!(thrown instanceof pg.DatabaseError)) throw thrown;
    if (missingContractObject(thrown.code ?? '', thrown.message) !== undefined) throw thrown;
    await session.query('rollback to savepoint step');
    job.trouble.push(`${stepText(step)} raised ${thrown.code ?? '?'}: ${thrown.message}`);
  }
}

async function perform(session: Session, job: Job, step: Step): Promise<void> {
  if (typeof step === 'object') {
    if ('pass_seconds' in step) await shiftWithin(session, step.pass_seconds);
    else if ('set' in step) await configure(session, step.set);
    else if ('plant' in step) await plantWithin(session, filledIn(step.plant, job, session));
    else if ('claim_for_seconds' in step) await claim(session, job, step.claim_for_seconds);
    else await enqueue(session, job, step.enqueue_due_in_seconds);
    return;
  }
  if (step === 'enqueue') return enqueue(session, job, null);
  if (step === 'claim') return claim(session, job, null);
  const answer = await answerOf(session, ...callOf(step, job));
  if (isObject(answer) && answer.refused === false) {
    if (endingOf(step) !== undefined) job.outcomes.push(step === 'reap' ? null : answer);
    return;
  }
  job.trouble.push(`${stepText(step)} answered ${JSON.stringify(answer)}`);
}

/** SQL of a file with `:job`, `:kind` and `:token` filled in as literals. */
export function filledIn(sql: string, job: Job, session: Session): string {
  const values: Readonly<Record<string, string>> = {
    job: job.id,
    kind: job.kind,
    token: job.tokens.at(-1) ?? randomUUID(),
  };
  return sql.replaceAll(/(?<!:):(job|kind|token)\b/g, (_, name: string) =>
    session.client.escapeLiteral(values[name] ?? ''),
  );
}

const ACTOR = 'matrix';

type Call = [call: string, values: unknown[]];

function callOf(step: Exclude<Step, object | 'enqueue' | 'claim'>, job: Job): Call {
  const lease = [job.id, job.tokens.at(-1) ?? null];
  const failure = [...lease, 'E_STEP', 'the step says so'];
  switch (step) {
    case 'progress':
      return ['public.fn_job_progress($1, $2)', lease];
    case 'renew':
      return ['public.fn_job_lease_renew($1, $2)', lease];
    case 'succeed':
      return ['public.fn_job_succeed($1, $2)', lease];
    case 'fail_transient':
      return ['public.fn_job_fail_transient($1, $2, $3, $4)', failure];
    case 'fail_permanent':
      return ['public.fn_job_fail_permanent($1, $2, $3, $4)', failure];
    case 'reap':
      return ['public.fn_job_lease_reaper()', []];
    case 'promote':
      return ['public.fn_job_promote_due()', []];
  }
}

async function enqueue(session: Session, job: Job, dueInSeconds: number | null): Promise<void> {
  const answer = await answerOf(
    session,
    `public.fn_job_enqueue($1::text, 'matrix', 'dot_iu', $1::text, '{"ref": 1}', 0,
       clock_timestamp() + make_interval(secs => $2), $3)`,
    [job.name, dueInSeconds, ACTOR],
  );
  const id = (answer as JsonObject | null)?.job_id;
  if (typeof id === 'string') job.id = id;
  else job.trouble.push(`enqueue answered ${JSON.stringify(answer)}`);
}

async function claim(session: Session, job: Job, forSeconds: number | null): Promise<void> {
  const holder = `worker ${job.tokens.length + 1}`;
  const [row] = await session.query<{ job_id: string; lease_token: string }>(
    `select c.job_id, c.lease_token from public.fn_job_claim(array[$1], null, $2, $3) c`,
    [job.kind, holder, forSeconds],
  );
  if (row?.job_id !== job.id) job.trouble.push(`a claim got ${row ? row.job_id : 'no row'}`);
  // Where none was granted, a token that nobody has stands in its place.
  job.tokens.push(row?.lease_token ?? randomUUID());
}

async function answerOf(session: Session, call: string, values: readonly unknown[]): Promise<Json> {
  const [row] = await session.query<{ answer: Json }>(`select ${call} as answer`, values);
  return row?.answer ?? null;
}
