/** Faults of retry, rights, gaps, flags and health, and the cells that must name each. Tests only. */
import type { Red } from './testing.ts';
import { breakFunction, breakView } from './testing.ts';

const RUNS = { file: 'selftest/matrix/maximum-by-path.yaml', clause: 's8.1' };
const RIGHTS = { file: 'selftest/privileges.yaml', clause: 's11.5' };
const GAPS = { file: 'selftest/matrix/gaps.yaml', clause: 's15.5' };
const FLAGS = { file: 'selftest/matrix/flags-by-functions.yaml', clause: 'dp3.7' };
const HEALTH = { file: 'selftest/matrix/health.yaml', clause: 'dp3.8' };

export const parts: readonly Red[] = [
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
