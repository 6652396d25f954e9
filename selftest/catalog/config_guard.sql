-- The guard of the configuration is in force for inserts and updates, and only for our families: its
-- WHEN keeps it away from other documents' keys (§15.5, contract §4).
with expected(family) as (
  select unnest(array['job_substrate', 'retry', 'lease', 'lease_reaper', 'enqueue', 'dlq', 'refusal',
                      'gap', 'health'])
)
select e.family,
       t.tgname as trigger,
       t.tgenabled as enabled,
       pg_get_triggerdef(t.oid) as definition
  from expected e
  left join pg_catalog.pg_trigger t on t.tgrelid = to_regclass('public.dot_config')
   and not t.tgisinternal
   and pg_get_triggerdef(t.oid) ~ ' OR '
   and pg_get_triggerdef(t.oid) ~ 'INSERT'
   and pg_get_triggerdef(t.oid) ~ 'UPDATE'
   and pg_get_triggerdef(t.oid) ~ 'WHEN'
   and pg_get_triggerdef(t.oid) ~ ('\m' || e.family || '\M')
 where t.oid is null
    or t.tgenabled not in ('O', 'A')
 order by 1;
