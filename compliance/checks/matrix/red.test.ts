/** Each matrix is seen red: with a fault planted, the cells that name it break, and no others. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sandbox, Server } from '../../types.ts';
import { openQueueServer, spec, told } from '../testing.ts';
import { run } from './index.ts';
import { breakFunction, breakView } from './testing.ts';

let server: Server;
beforeAll(async () => {
  server = await openQueueServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

type Red = {
  fault: string;
  file: string;
  clause: string;
  plant(sandbox: Sandbox): Promise<void>;
  /** A cell that must break → what must be seen of it. */
  names: Readonly<Record<string, RegExp>>;
  /** What every broken cell has in its name: the fault breaks nothing else. */
  only: RegExp;
};

const STATES = { file: 'selftest/matrix/states-by-functions.yaml', clause: 's6.7' };
const ORDER = { file: 'selftest/matrix/first-reason-wins.yaml', clause: 's6.7' };
const ZOMBIES = { file: 'selftest/matrix/zombie-calls.yaml', clause: 's7' };
const RUNS = { file: 'selftest/matrix/maximum-by-path.yaml', clause: 's8.1' };
const RIGHTS = { file: 'selftest/privileges.yaml', clause: 's11.5' };
const GAPS = { file: 'selftest/matrix/gaps.yaml', clause: 's15.5' };
const FLAGS = { file: 'selftest/matrix/flags-by-functions.yaml', clause: 'dp3.7' };
const HEALTH = { file: 'selftest/matrix/health.yaml', clause: 'dp3.8' };

const reds: Red[] = [
  {
    ...STATES,
    fault: 'a lease call without the token test',
    plant: (sandbox) =>
      breakFunction(sandbox, 'dot_queue.lease_call', [
        /when job\.lease_token is distinct from p_lease_token then 'lease_token_mismatch'/,
        '',
      ]),
    names: {
      "s6.7: fn_job_succeed on leased_at_first (leased), with another job's token":
        /answer\.refused is false, not true/,
      's6.7: fn_job_lease_renew on in_progress_again (in_progress), with the token of claim 1 (ended by fn_job_fail_transient)':
        /changed is \["dot_iu_runtime_lease","job_queue"\]/,
    },
    only: /\((leased|in_progress)[^)]*\), with (another|a token|the token of claim \d \(ended)/,
  },
  {
    ...STATES,
    fault: 'a lease call that takes an expired lease',
    plant: (sandbox) =>
      breakFunction(sandbox, 'dot_queue.lease_call', [
        /when job\.leased_until <= at then 'lease_expired'/,
        '',
      ]),
    names: {
      's6.7: fn_job_fail_permanent on in_progress_and_expired (in_progress, expired), with the token of claim 3':
        /answer\.refused is false, not true/,
    },
    only: /, expired\), with the token of claim 3$/,
  },
  {
    ...STATES,
    fault: 'a success of a leased job that audits one step',
    plant: (sandbox) =>
      breakFunction(sandbox, 'public.fn_job_succeed', [
        /if v_job\.status = 'leased' then/,
        'if false then',
      ]),
    names: {
      's6.7: fn_job_succeed on leased_again (leased), with the token of claim 3': /audit is \[/,
    },
    only: /^s6\.7: fn_job_succeed on leased_\w+ \(leased\), with the token of claim \d$/,
  },
  {
    ...STATES,
    fault: 'a refusal that leaves a trace on the job',
    plant: (sandbox) =>
      breakFunction(sandbox, 'dot_queue.lease_call', [
        /if v_reason is not null then/,
        `if v_reason is not null then
           update public.job_queue q set last_error = v_reason where q.job_id = p_job_id;`,
      ]),
    names: {
      's6.7: fn_job_progress on queued_ready (queued), with a token that was never granted':
        /changed is \["job_queue"\], not \[\]/,
    },
    only: /^s6\.7: fn_job_/,
  },
  {
    ...ORDER,
    fault: 'a lease call that looks at the token before the job',
    plant: (sandbox) =>
      breakFunction(sandbox, 'dot_queue.lease_call', [
        /case when p_job_id is null then dot_queue\.invalid_argument\('p_job_id', 'required'\) end,\s*(case when p_lease_token is null then\s*dot_queue\.invalid_argument\('p_lease_token', 'required'\)\s*end,)/,
        `$1 case when p_job_id is null then dot_queue.invalid_argument('p_job_id', 'required') end,`,
      ]),
    names: {
      's6.7: fn_job_succeed: no job is named, and no token is given':
        /answer\.argument is "p_lease_token", not "p_job_id"/,
    },
    only: /: no job is named, and no token is given$/,
  },
  {
    ...ORDER,
    fault: 'a gate that looks at the isolation level first',
    plant: (sandbox) =>
      breakFunction(sandbox, 'dot_queue.gate', [
        /dot_queue\.config\('queue\.job_substrate\.enabled'\) = 'false'/,
        `current_setting('transaction_isolation') = 'read committed' and dot_queue.config('queue.job_substrate.enabled') = 'false'`,
      ]),
    names: {
      's6.7: fn_job_lease_reaper: the substrate is off, and the transaction is SERIALIZABLE':
        /answer\.reason is "isolation_level", not "substrate_disabled"/,
    },
    only: /: the substrate is off, and the transaction is /,
  },
  {
    ...ZOMBIES,
    fault: 'an ending that nobody is told of again',
    plant: (sandbox) =>
      breakFunction(sandbox, 'dot_queue.lease_call', [
        /if job\.ended_token = p_lease_token and job\.ended_by = p_command then/,
        'if false then',
      ]),
    names: {
      's7: fn_job_succeed on succeeded (succeeded), with the token of claim 1 (ended by fn_job_succeed)':
        /answer\.already_applied is absent, not true/,
    },
    only: /^s7: (fn_job_\w+) on .* \(ended by \1\)$/,
  },
  {
    ...ZOMBIES,
    fault: 'a failure call that takes the token of an earlier lease',
    plant: (sandbox) =>
      breakFunction(sandbox, 'dot_queue.lease_call', [
        /when job\.lease_token is distinct from p_lease_token then/,
        `when job.lease_token is distinct from p_lease_token and p_command <> 'fn_job_fail_transient' then`,
      ]),
    names: {
      's7: fn_job_fail_transient on reaped_then_leased (leased), with the token of claim 1 (ended by fn_job_lease_reaper)':
        /answer\.refused is false, not true/,
    },
    only: /^s7: fn_job_fail_transient on \w+ \((leased|in_progress)/,
  },
  {
    ...RUNS,
    fault: 'a reaper that is blind to the maximum',
    plant: (sandbox) =>
      breakFunction(sandbox, 'dot_queue.reap_rows', [
        /and q\.attempts >= dot_queue\.max_attempts\(q\.job_kind\)/,
        'and false',
      ]),
    names: {
      's8.1: a maximum of 3, crash: 3 runs': /runs is 9, not 3/,
      's8.1: a maximum lowered to 2 after 4 runs, crash: 5 runs': /runs is 9, not 5/,
    },
    only: /crash|success_at_the_third/,
  },
  {
    ...RUNS,
    fault: 'a failure that is final one attempt too late',
    plant: (sandbox) =>
      breakFunction(sandbox, 'public.fn_job_fail_transient', [
        /v_job\.attempts >= dot_queue\.max_attempts/,
        'v_job.attempts > dot_queue.max_attempts',
      ]),
    names: { 's8.1: a maximum of 1, transient: 1 run': /runs is 2, not 1/ },
    only: /transient|success_at_the_third/,
  },
  {
    ...RUNS,
    fault: 'a claim that passes over rows at the ceiling',
    plant: (sandbox) =>
      breakFunction(sandbox, 'dot_queue.claim', [
        /and q\.claimable\s+and q\.job_id <> all/,
        'and q.claimable and q.attempts < dot_queue.max_attempts(q.job_kind) and q.job_id <> all',
      ]),
    names: {
      's8.1: a row that is queued with 5 attempts stops no claim (one by one)': /it is \[/,
    },
    only: /\(one by one\)$/,
  },
  {
    ...RIGHTS,
    fault: 'a producer that may claim',
    plant: (sandbox) =>
      sandbox.plant('grant execute on function public.fn_job_claim to dot_producer'),
    names: {
      's11.5: dot_producer may not call fn_job_claim(text[],text,text,integer)':
        /it is true, not false/,
    },
    only: /dot_producer may not call fn_job_claim\(|no grant is there beyond the file/,
  },
  {
    ...RIGHTS,
    fault: 'an auditor that may read the payload',
    plant: (sandbox) => sandbox.plant('grant select (payload) on public.job_queue to dot_auditor'),
    names: {
      's11.5: no grant is there beyond the file, to PUBLIC, with grant option or to anyone else':
        /select on job_queue\.payload to dot_auditor/,
      's11.5: dot_auditor reads 20 of 24 columns of job_queue': /payload/,
    },
    only: /dot_auditor reads|no grant is there beyond the file/,
  },
  {
    ...RIGHTS,
    fault: 'a function that anybody may call, and that no file names',
    plant: (sandbox) =>
      sandbox.plant(`create function public.fn_job_purge() returns void language sql as 'select'`),
    names: {
      's11.5: every function in the database is in the file': /fn_job_purge\(\)/,
      's11.5: no grant is there beyond the file, to PUBLIC, with grant option or to anyone else':
        /fn_job_purge\(\) to PUBLIC/,
      's11.5: everything but what the host has belongs to dot_queue_owner': /fn_job_purge/,
    },
    only: /every function in the database|no grant is there|belongs to dot_queue_owner/,
  },
  {
    ...RIGHTS,
    fault: 'a private schema that is open',
    plant: (sandbox) => sandbox.plant('grant usage on schema dot_queue to dot_executor'),
    names: {
      's11.5: no grant is there beyond the file, to PUBLIC, with grant option or to anyone else':
        /usage on schema dot_queue to dot_executor/,
    },
    only: /no grant is there beyond the file/,
  },
  {
    ...GAPS,
    fault: 'a gap view that forgets expired leases in progress',
    plant: (sandbox) =>
      breakView(sandbox, 'public.v_job_silent_gap', [
        /ARRAY\['leased'::text, 'in_progress'::text\]/,
        `ARRAY['leased'::text]`,
      ]),
    names: {
      's15.5: lease_expired_unreaped, a job in progress whose worker died: named with what it is about, since and overdue':
        /gaps is \[\]/,
      's15.5: a job in progress: named at the latest after 870 seconds in which nothing happens':
        /named is false, not true/,
    },
    only: /in progress/,
  },
  {
    ...GAPS,
    fault: 'a gap view that alarms too early and says a wrong time',
    plant: (sandbox) =>
      breakView(sandbox, 'public.v_job_silent_gap', [
        /GREATEST\(q\.enqueued_at, q\.process_after\) < \(b\.at - b\.ready_within\)/,
        `q.enqueued_at < (b.at - b.ready_within)`,
      ]),
    names: {
      's15.5: ready_unclaimed, a job that was told to wait, and is promoted: not named 20 seconds too early':
        /ready_unclaimed/,
    },
    only: /told to wait|before its time|promoted/,
  },
  {
    ...FLAGS,
    fault: 'a promoter that works while the substrate is off',
    plant: (sandbox) =>
      breakFunction(sandbox, 'public.fn_job_promote_due', [
        /dot_queue\.gate\('fn_job_promote_due'\)/,
        'null::jsonb',
      ]),
    names: {
      'dp3.7: under substrate_off: fn_job_promote_due': /answer\.refused is false, not true/,
      'dp3.7: after substrate_off: fn_job_promote_due': /answer\.promoted is 0, not 2/,
    },
    only: /substrate_off/,
  },
  {
    ...FLAGS,
    fault: 'a flag of the reaper that stops claims, too',
    plant: (sandbox) =>
      breakFunction(sandbox, 'dot_queue.gate', [
        /dot_queue\.config\('queue\.job_substrate\.enabled'\) = 'false'/,
        `'false' in (dot_queue.config('queue.job_substrate.enabled'), dot_queue.config('queue.lease_reaper.enabled'))`,
      ]),
    names: { 'dp3.7: under reaper_off: fn_job_claim of a ready job': /answer is \[\]/ },
    only: /^dp3\.7: under reaper_off: /,
  },
  {
    ...HEALTH,
    fault: 'a depth that misses an expired lease',
    plant: (sandbox) =>
      breakView(sandbox, 'public.v_queue_health', [
        /WHERE q\.status = (s\w*)\.status/,
        'WHERE q.status = $1.status AND (q.leased_until IS NULL OR q.leased_until > clock_timestamp())',
      ]),
    names: {
      'dp3.8: a_lease_left_expired: depth_leased': /it is 0, not 1/,
      'dp3.8: a_lease_left_expired: every job is in exactly one of 8 depths': /it is 0, not 1/,
    },
    only: /expired|all fixtures together|^dp3\.8: depth_(leased|in_progress) /,
  },
  {
    ...HEALTH,
    fault: 'a figure that is off by one',
    plant: (sandbox) =>
      breakFunction(sandbox, 'public.fn_dead_letter_health', [
        /'open_count_job', count\(\*\)/,
        `'open_count_job', 1 + count(*)`,
      ]),
    names: { 'dp3.8: dead_long_ago: fn_dead_letter_health': /open_count_job is 2, not 1/ },
    only: /fn_dead_letter_health$/,
  },
];

test.each(reds)('$file finds $fault', async ({ names, only, ...red }) => {
  await using sandbox = await server.sandbox('queue');
  await red.plant(sandbox);
  const { seen, threw } = await told(run, sandbox, [spec('matrix', red.file, red.clause)]);
  expect(threw).toBeUndefined();
  const broken = new Map(
    seen.flatMap((one) => (one.is === 'assertion' && !one.ok ? [[one.name, one.seen ?? '']] : [])),
  );
  for (const [name, pattern] of Object.entries(names))
    expect(broken.get(name), name).toMatch(pattern);
  expect([...broken.keys()].filter((name) => !only.test(name))).toEqual([]);
});
