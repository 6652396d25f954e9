-- Disable flags (DP3 §7): each makes its surface inert, nothing is lost, and back on it goes on.
begin;
\ir lib/session.sql
\ir lib/functions.sql
select plan(49);

-- The whole substrate ------------------------------------------------------------------------------------

select pg_temp.enqueue('queued');
select pg_temp.hold('held');
select pg_temp.hold('progressing');
select pg_temp.call('fn_job_progress', 'progressing');
select pg_temp.hold('crashed');
select pg_temp.expire('crashed');
select pg_temp.hold('waiting');
select pg_temp.fail('waiting');
select pg_temp.make_due('waiting');
select pg_temp.hold('died');
select pg_temp.call('fn_job_fail_permanent', 'died', $$'E', 'm'$$);

select pg_temp.configure('queue.job_substrate.enabled', 'false');
select pg_temp.mark();
create temp table before_off on commit drop as select pg_temp.state() as state;
select is(
    pg_temp.surface_call(s.fn, s.arguments),
    case
      when s.fn like 'fn\_job\_claim%' then '[]'::jsonb
      else '{"refused": true, "reason": "substrate_disabled"}'
    end,
    format('dp3.7: with the substrate off %s is inert', s.fn))
  from surface s
 where s.gated
 order by s.place;
-- With good arguments too.
select is(
    pg_temp.enqueue('more') ->> 'reason',
    'substrate_disabled',
    'dp3.7: with the substrate off nothing is enqueued');
select is(pg_temp.claim('queued'), null, 'dp3.7: with the substrate off a claim returns no row');
select is(
    pg_temp.call(c.fn, 'held', c.more) ->> 'reason',
    'substrate_disabled',
    format('dp3.7: with the substrate off %s ends no lease that is held', c.fn))
  from (values ('fn_job_lease_renew', ''),
    ('fn_job_progress', ''),
    ('fn_job_succeed', ''),
    ('fn_job_fail_transient', '''E'', ''m'''),
    ('fn_job_fail_permanent', '''E'', ''m''')) c(fn, more);
select is(
    pg_temp.answer('select public.fn_job_lease_reaper()') ->> 'reason',
    'substrate_disabled',
    'dp3.7: with the substrate off nothing is reaped');
select is(
    pg_temp.answer('select public.fn_job_promote_due()') ->> 'reason',
    'substrate_disabled',
    'dp3.7: with the substrate off nothing is promoted');
select is(pg_temp.state(), b.state, 'dp3.7: with the substrate off nothing changes')
  from before_off b;

-- What the flag does not touch.
select isnt(
    pg_temp.surface_call(s.fn, s.arguments) ->> 'reason',
    'substrate_disabled',
    format('dp3.7: with the substrate off %s still works', s.fn))
  from surface s
 where not s.gated
 order by s.place;
select is(
    pg_temp.verdict(
      pg_temp.answer(
        format(
          $$select public.fn_job_dead_letter_triage_update(%L, 'closed', 'judge')$$,
          d.dead_letter_id))),
    'done',
    'dp3.7: with the substrate off triage goes on')
  from public.job_dead_letter d;
select is(
    pg_temp.answer(
      format('select public.fn_job_dead_letter_requeue_dry_run(%L)', d.dead_letter_id)) ->> 'mutation',
    'false',
    'dp3.7: with the substrate off the dry run goes on')
  from public.job_dead_letter d;
select is(
    (select count(*)::int
       from public.v_job_silent_gap g
      where g.reason = 'substrate_off_with_backlog'),
    1,
    'dp3.7: a substrate that is off with jobs waiting is a silent gap');

-- On again.
select pg_temp.configure('queue.job_substrate.enabled', 'true');
select isnt(pg_temp.claim('queued'), null, 'dp3.7: on again, the waiting job is claimed');
select is(
    pg_temp.verdict(pg_temp.call('fn_job_succeed', 'held')),
    'done',
    'dp3.7: on again, a lease that still lives can be ended');
select is(
    pg_temp.verdict(pg_temp.call('fn_job_lease_renew', 'progressing')),
    'done',
    'dp3.7: on again, a lease that still lives can be renewed');
select is(
    pg_temp.answer('select public.fn_job_lease_reaper()') ->> 'reaped',
    '1',
    'dp3.7: on again, what expired meanwhile is reaped');
select isnt(pg_temp.claim('waiting'), null, 'dp3.7: on again, what came due meanwhile is claimed');

-- The reaper -------------------------------------------------------------------------------------------------

select pg_temp.hold('unreaped');
select pg_temp.expire('unreaped');
select pg_temp.configure('queue.lease_reaper.enabled', 'false');
create temp table before_reaper_off on commit drop as select pg_temp.state() as state;
select pg_temp.mark();
select is(
    pg_temp.answer('select public.fn_job_lease_reaper()'),
    '{"refused": true, "reason": "reaper_disabled"}',
    'dp3.7: with its flag off the reaper refuses');
select is(
    pg_temp.answer('select public.fn_job_lease_reaper(0)') ->> 'reason',
    'invalid_argument',
    'dp3.7: a bad argument comes before the reaper''s flag');
select is(pg_temp.state(), b.state, 'dp3.7: with its flag off the reaper changes nothing')
  from before_reaper_off b;
select is(
    pg_temp.audited(),
    'refused reaper_disabled, refused invalid_argument',
    'dp3.7: a reaper that is switched off says so in the audit');
select is(
    pg_temp.verdict(pg_temp.enqueue('beside')),
    'done',
    'dp3.7: the reaper''s flag stops the reaper alone');
select isnt(pg_temp.claim('beside'), null, 'dp3.7: claims go on without the reaper');
select is(
    pg_temp.verdict(pg_temp.call('fn_job_succeed', 'unreaped')),
    'lease_expired',
    'dp3.7: without the reaper an expired lease is over all the same');
select pg_temp.configure('queue.lease_reaper.enabled', 'true');
select is(
    pg_temp.answer('select public.fn_job_lease_reaper()') ->> 'reaped',
    '1',
    'dp3.7: on again, the reaper takes back what was left');

-- Retry ------------------------------------------------------------------------------------------------------

select pg_temp.configure('queue.retry.max_attempts.default', '1');
select pg_temp.hold('one_try');
select is(
    pg_temp.fail('one_try') ->> 'status_to',
    'dead_letter',
    'dp3.7: a maximum of 1 disables retry');
select pg_temp.configure('queue.retry.max_attempts.default', '5');
select pg_temp.hold('tries');
select is(
    pg_temp.fail('tries') ->> 'status_to',
    'retry_waiting',
    'dp3.7: back at 5, jobs are retried again');

select pg_temp.configure('queue.retry.backoff.cap_seconds', '0');
select pg_temp.hold('constant');
select pg_temp.set('constant', $$attempts = 4$$);
select pg_temp.fail('constant');
select ok(
    (pg_temp.job('constant')).process_after between clock_timestamp() + interval '23 seconds' and clock_timestamp(
      ) + interval '36 seconds',
    'dp3.7: a cap of 0 collapses the back-off to constant');
select pg_temp.configure('queue.retry.backoff.cap_seconds', '3600');

select * from finish();
rollback;
