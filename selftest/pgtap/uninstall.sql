-- The concept of rollback (DP3 §12 rollback_concept): what install.sql makes, uninstall.sql takes away. Runs
-- the release's own files, in a database of this suite alone; they open and commit transactions of
-- their own, so this suite has none.
set search_path = public, tap;

-- Everything in the database that is not the system's, pgTAP's or a temporary table, a line each.
create function pg_temp.everything()
returns table (thing text)
language sql
as $$
  with foreign_schema as (
    select n.oid
      from pg_catalog.pg_namespace n
     where n.nspname !~ '^pg_'
       and n.nspname not in ('information_schema', 'tap')
  )
  select 'schema ' || n.nspname || ' ' || coalesce(n.nspacl::text, '')
    from pg_catalog.pg_namespace n
   where n.oid in (select f.oid from foreign_schema f)
  union all
  select 'relation ' || c.oid::regclass || ' ' || coalesce(c.relacl::text, '')
    from pg_catalog.pg_class c
   where c.relnamespace in (select f.oid from foreign_schema f)
  union all
  select 'function ' || p.oid::regprocedure
    from pg_catalog.pg_proc p
   where p.pronamespace in (select f.oid from foreign_schema f)
  union all
  select 'trigger ' || t.tgname || ' on ' || t.tgrelid::regclass
    from pg_catalog.pg_trigger t
   where not t.tgisinternal
$$;

select plan(6);

select public.fn_job_enqueue('alpha', 'd', 'dot_iu', 'kept', '{}');

set dieu45.purge = 'yes';
\ir ../../sql/uninstall.sql
set search_path = public, tap;
create temp table without_queue as select e.thing from pg_temp.everything() e;
select is(
    (select count(*)::integer from without_queue w where w.thing ~ '(job|dot_|dead_letter|v_queue|lease)'),
    0,
    'self_test: uninstalled, the database holds nothing of the queue');

\ir ../../sql/install.sql
set search_path = public, tap;
select cmp_ok(
    (select count(*)::integer from pg_temp.everything()),
    '>',
    (select count(*)::integer + 100 from without_queue),
    'self_test: installed again, the queue is there');
select is(
    public.fn_job_enqueue('alpha', 'd', 'dot_iu', 'k', '{}') ->> 'created',
    'true',
    'self_test: and it works');
select is(
    (select c.value from public.dot_config c where c.key = 'queue.job_substrate.enabled'),
    'true',
    'self_test: with its settings');

set dieu45.purge = 'yes';
\ir ../../sql/uninstall.sql
set search_path = public, tap;
select is_empty(
    'select e.thing from pg_temp.everything() e except select w.thing from without_queue w',
    'self_test: uninstalled again, nothing is there that was not there before');
select is_empty(
    'select w.thing from without_queue w except select e.thing from pg_temp.everything() e',
    'self_test: and nothing is gone that was there before');
select * from finish();
