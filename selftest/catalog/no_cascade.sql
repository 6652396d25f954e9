-- Dead letters and audit outlive everything: no foreign key and no trigger of ours deletes them, and
-- no rule rewrites what is done to them (contract §1 D1, §3).
with expected(relation) as (
  values ('job_dead_letter'), ('dot_iu_command_run'), ('job_queue')
)
select e.relation, coalesce(f.conname, r.rulename, 'missing') as finding,
       pg_get_constraintdef(f.oid) as definition
  from expected e
  left join pg_catalog.pg_constraint f on f.contype = 'f'
   and to_regclass('public.' || e.relation) in (f.conrelid, f.confrelid)
  left join pg_catalog.pg_rewrite r on r.ev_class = to_regclass('public.' || e.relation)
 where to_regclass('public.' || e.relation) is null
    or f.oid is not null
    or r.oid is not null
 order by 1, 2;
