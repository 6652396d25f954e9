/** Faults of single calls, and the cells that must name each. Tests only. */
import type { Red } from './testing.ts';
import { breakFunction } from './testing.ts';

const STATES = { file: 'selftest/matrix/states-by-functions.yaml', clause: 's6.7' };
const ORDER = { file: 'selftest/matrix/first-reason-wins.yaml', clause: 's6.7' };
const ZOMBIES = { file: 'selftest/matrix/zombie-calls.yaml', clause: 's7' };

export const calls: readonly Red[] = [
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
];
