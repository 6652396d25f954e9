-- The dry run of a requeue writes nothing (§8.4, DLQ governance): a transaction that did nothing else has
-- no id afterwards. Has no transaction around it, because pgTAP itself writes; what was seen is kept in a
-- setting until the transaction under test is over.
set search_path = public, tap;
select plan(4);

do $$
declare
  v_claim record;
begin
  perform public.fn_job_enqueue('alpha', 'd', 'dot_iu', 'dead', '{}');
  select * into v_claim from public.fn_job_claim('{alpha}', null, 'w');
  perform public.fn_job_fail_permanent(v_claim.job_id, v_claim.lease_token, 'bad', null);
end
$$;

begin;
select set_config('suite.before', coalesce(pg_current_xact_id_if_assigned()::text, 'none'), false);
select set_config('suite.answer', public.fn_job_dead_letter_requeue_dry_run(d.dead_letter_id)::text, false)
  from public.job_dead_letter d;
select public.fn_job_dead_letter_requeue_dry_run('00000000-0000-0000-0000-000000000000');
select public.fn_job_dead_letter_requeue_dry_run(null);
select set_config('suite.after', coalesce(pg_current_xact_id_if_assigned()::text, 'none'), false);
commit;

select is(current_setting('suite.before'), 'none', 's8.4: the transaction under test begins without an id');
select is(current_setting('suite.after'), 'none', 's8.4: three dry runs leave it without one');
select is(
    current_setting('suite.answer')::jsonb ->> 'mutation', 'false', 's8.4: the dry run had found its dead letter');

-- The probe can tell: a triage in its place gives the transaction an id.
begin;
select public.fn_job_dead_letter_triage_update(d.dead_letter_id, 'escalated', 'me') from public.job_dead_letter d;
select set_config('suite.after', coalesce(pg_current_xact_id_if_assigned()::text, 'none'), false);
commit;
select isnt(current_setting('suite.after'), 'none', 's8.4: a call that writes would have been noticed');
select * from finish();
