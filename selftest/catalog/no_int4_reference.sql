-- Nothing that counts up for ever, and nothing that names a job, is an int4: ids are uuid, sequences
-- are bigint (DP3 §5).
with expected(relation, attribute, type) as (
  values
    ('job_queue', 'job_id', 'uuid'),
    ('job_dead_letter', 'dead_letter_id', 'uuid'),
    ('job_dead_letter', 'job_id', 'uuid'),
    ('job_sweep', 'sweep_id', 'bigint'),
    ('dot_iu_command_run', 'run_seq', 'bigint'),
    ('dot_iu_command_run', 'job_id', 'uuid'),
    ('dot_iu_command_run', 'dead_letter_id', 'uuid')
)
select e.relation as object,
       e.attribute as part,
       coalesce(format_type(a.atttypid, null), 'missing') as type
  from expected e
  left join pg_catalog.pg_attribute a on a.attrelid = to_regclass('public.' || e.relation)
   and a.attname = e.attribute
   and not a.attisdropped
 where format_type(a.atttypid, null) is distinct from e.type
union all
select s.seqrelid::regclass::text, 'sequence', format_type(s.seqtypid, null)
  from pg_catalog.pg_sequence s
  join pg_catalog.pg_depend d on d.classid = 'pg_class'::regclass
   and d.objid = s.seqrelid
   and d.deptype in ('a', 'i')
  join expected e on d.refobjid = to_regclass('public.' || e.relation)
 where s.seqtypid <> 'bigint'::regtype
union all
select p.oid::regprocedure::text, coalesce(n.name, 'argument'), format_type(t.type, null)
  from pg_catalog.pg_proc p
 cross join unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) with ordinality t(type, place)
  left join unnest(p.proargnames) with ordinality n(name, place) on n.place = t.place
 where (p.pronamespace = to_regnamespace('dot_queue')
        or (p.pronamespace = to_regnamespace('public') and p.proname like 'fn\_job\_%'))
   and n.name ~ '_ids?$'
   and t.type in ('int4'::regtype, 'int4[]'::regtype, 'int8'::regtype, 'int8[]'::regtype)
 order by 1, 2;
