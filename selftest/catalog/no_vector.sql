-- No column of the queue is a vector or an array of numbers: what passes through it is a signal (DP3
-- §12 no_vector_in_transient).
with expected(relation) as (
  select unnest(array['job_queue', 'job_dead_letter', 'job_executor', 'job_sweep', 'event_pending',
                      'dot_iu_command_run'])
)
select e.relation,
       coalesce(a.attname, 'missing') as finding,
       format_type(a.atttypid, a.atttypmod) as type
  from expected e
  left join pg_catalog.pg_attribute a on a.attrelid = to_regclass('public.' || e.relation)
   and a.attnum > 0
   and not a.attisdropped
   and exists (
         select 1
           from pg_catalog.pg_type t
           left join pg_catalog.pg_type i on i.oid = t.typelem
          where t.oid = a.atttypid
            and (t.typname in ('vector', 'halfvec', 'sparsevec', 'cube', 'tsvector')
                 or i.typcategory = 'N')
       )
 where to_regclass('public.' || e.relation) is null
    or a.attname is not null
 order by 1, 2;
