/**
 * Runs a matrix of lease calls: each job in a transaction of its own that is rolled back, with a
 * neighbour whose lease must never be touched and whose token is the foreign one. A job gives one
 * assertion for having reached its state, and one for each function and token.
 */
import { randomUUID } from 'node:crypto';
import type { Observation, Session } from '../../../types.ts';
import { readDataFile } from '../../data_file.ts';
import { assertionOf, countsOf } from '../cell.ts';
import { configure, drive, type Job } from '../job.ts';
import type { Json } from '../json.ts';
import { flat, grantsOf, stepText } from '../steps.ts';
import { auditText, openTrials, tryAll, type Outcome, type Trial } from '../trial.ts';
import type { Matrix } from '../matrix.ts';
import { decide, expectationOf, type Call, type Token } from './expect.ts';
import {
  answersFile,
  leaseCallsFile,
  type AnswersFile,
  type JobPlan,
  type LeaseCallsFile,
} from './schema.ts';

export const leaseCalls: Matrix<typeof leaseCallsFile> = {
  schema: leaseCallsFile,
  async *run({ data, source }, sandbox, how) {
    const { root, signal } = how;
    const { data: table } = await readDataFile(answersFile, data.answers, root);
    await using session = await sandbox.session('matrix');
    await openTrials(session);
    for (const [name, plan] of Object.entries(data.jobs)) {
      signal.throwIfAborted();
      how.progress(name);
      const at = source.atKey(['jobs', name]);
      for (const one of await tryJob(session, name, plan, { data, table })) yield { at, ...one };
    }
  },
};

type Given = { data: LeaseCallsFile; table: AnswersFile };

async function tryJob(
  session: Session,
  name: string,
  plan: JobPlan,
  { data, table }: Given,
): Promise<Observation[]> {
  const steps = flat(plan.steps);
  await session.query('begin');
  try {
    await configure(session, plan.settings);
    // Long enough to outlive whatever passes in the job's steps.
    const neighbour = await drive(session, 'neighbour', ['enqueue', { claim_for_seconds: 86_400 }]);
    const job = await drive(session, name, steps);
    const grants = grantsOf(steps);
    const maximum = Number(plan.settings['queue.retry.max_attempts.default'] ?? table.maximum);
    const cells = callsOf(plan, grants, { data, table });
    const outcomes = await tryAll(
      session,
      cells.map((call) => trialOf(call, job, neighbour, table)),
    );
    const reached = await reachedCell(session, job, plan, grants.length);
    const trace = steps.map(stepText);
    const seen = cells.map((call, index) => {
      const decision = decide(call, table);
      const claim = decision.is === 'already_applied' ? decision.claim : 0;
      const facts = {
        jobId: job.id,
        attempts: grants.length,
        maximum,
        outcome: job.outcomes[claim - 1] ?? null,
      };
      const outcome = outcomes[index];
      return {
        counted: decision.is === 'refused' ? decision.reason : decision.is,
        assertion: assertionOf(data.clause, {
          name: nameOf(call, name),
          expected: expectationOf(call, decision, facts),
          seen: outcome ? seenOf(outcome) : null,
          trace,
        }),
      };
    });
    return [
      assertionOf(data.clause, { ...reached, trace }),
      ...seen.map(({ assertion }) => assertion),
      ...countsOf(seen.map(({ counted }) => counted)),
    ];
  } finally {
    await session.query('rollback');
  }
}

function callsOf(plan: JobPlan, grants: Call['grants'], { data, table }: Given): Call[] {
  const tokens = data.tokens.flatMap((which): Token[] => {
    if (which !== 'each_claim' && which !== 'each_ended_claim') return [{ is: which }];
    return grants.flatMap(({ endedBy }, index) =>
      which === 'each_ended_claim' && endedBy === undefined
        ? []
        : [{ is: 'claim', claim: index + 1 }],
    );
  });
  return Object.keys(table.functions).flatMap((fn) =>
    tokens.map((token) => ({ function: fn, token, plan, grants })),
  );
}

function trialOf(call: Call, job: Job, neighbour: Job, table: AnswersFile): Trial {
  const id = job.id === '' ? randomUUID() : job.id;
  const more = (table.functions[call.function] ?? []).map((argument) => `, ${argument}`).join('');
  return {
    call: `select public.${call.function}('${id}', ${tokenSql(call.token, job, neighbour)}${more})`,
    about: id,
    look: lookAt(id),
  };
}

function tokenSql(token: Token, job: Job, neighbour: Job): string {
  switch (token.is) {
    case 'missing':
      return 'null';
    case 'unknown':
      return `'${randomUUID()}'`;
    case 'foreign':
      return `'${neighbour.tokens[0] ?? randomUUID()}'`;
    case 'claim':
      return `'${job.tokens[token.claim - 1] ?? randomUUID()}'`;
  }
}

/** What a transition leaves behind: the row, the mirror, dead letters, events. */
function lookAt(jobId: string): string {
  return `
    select jsonb_build_object(
      'status', q.status,
      'attempts', q.attempts,
      'leased_until', q.leased_until,
      'process_after', q.process_after,
      'mirror', (
        select case
                 when l.lease_token = q.lease_token and l.expires_at = q.leased_until then 'in_step'
                 else 'out of step'
               end
          from public.dot_iu_runtime_lease l
         where l.lease_name = 'job:' || q.job_id
      ),
      'letters', (
        select jsonb_agg(jsonb_build_object('dead_letter_id', d.dead_letter_id, 'attempts', d.attempts))
          from public.job_dead_letter d
         where d.job_id = q.job_id
           and d.resolved_at is null
      ),
      'events', (
        select jsonb_agg(e.event_type order by e.event_type)
          from public.event_pending e
         where e.payload ->> 'job_id' = q.job_id::text
           and e.event_type <> 'queue_lease_reaped'
      ))
      from public.job_queue q
     where q.job_id = '${jobId}'`;
}

type Looked = {
  status: string;
  attempts: number;
  leased_until: string | null;
  process_after: string;
  mirror: string | null;
  letters: { dead_letter_id: string; attempts: number }[] | null;
  events: string[] | null;
} | null;

/** A trial in the shape of an expectation. */
function seenOf({ answer, error, changed, elsewhere, audit, looked }: Outcome): Json {
  const row = looked as Looked;
  const letters = row?.letters ?? [];
  const said = (answer ?? {}) as Record<string, unknown>;
  // What the answer says of lease, delay and dead letter is what stands in the tables.
  const answered =
    (said.leased_until === undefined || said.leased_until === row?.leased_until) &&
    (said.process_after === undefined || said.process_after === row?.process_after) &&
    (said.dead_letter_id === undefined ||
      letters.some((letter) => letter.dead_letter_id === said.dead_letter_id));
  return {
    answer: error ?? answer,
    changed,
    elsewhere,
    audit: audit.map((one) => ({ command: one.command, text: auditText(one) })),
    row: row && {
      status: row.status,
      attempts: row.attempts,
      answered,
      mirror: row.mirror ?? 'gone',
    },
    letters: letters.map(({ attempts }) => attempts),
    events: row?.events ?? [],
  };
}

/** Whether the steps led where the file says, by functions alone. */
async function reachedCell(session: Session, job: Job, plan: JobPlan, claims: number) {
  const [row] = await session.query<{ status: string; attempts: number; expired: boolean }>(
    `select q.status, q.attempts, coalesce(q.leased_until <= clock_timestamp(), false) as expired
       from public.job_queue q
      where q.job_id::text = $1`,
    [job.id],
  );
  const none = plan.status === 'none';
  return {
    name: `${job.name} comes about by calls of the contract`,
    expected: none
      ? { trouble: [], row: null }
      : { trouble: [], row: { status: plan.status, expired: plan.expired } },
    seen: { trouble: job.trouble, row: row ?? null, claims },
  };
}

/** `fn_job_succeed on leased_again, with the token of claim 1 (ended by fn_job_fail_transient)`. */
function nameOf({ function: fn, token, grants, plan }: Call, job: string): string {
  const state = `${plan.status}${plan.expired ? ', expired' : ''}`;
  return `${fn} on ${job} (${state}), with ${tokenText(token, grants)}`;
}

function tokenText(token: Token, grants: Call['grants']): string {
  switch (token.is) {
    case 'missing':
      return 'no token';
    case 'unknown':
      return 'a token that was never granted';
    case 'foreign':
      return "another job's token";
    case 'claim': {
      const endedBy = grants[token.claim - 1]?.endedBy;
      return `the token of claim ${token.claim}${endedBy === undefined ? '' : ` (ended by ${endedBy})`}`;
    }
  }
}
