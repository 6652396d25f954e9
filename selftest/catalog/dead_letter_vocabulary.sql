-- The vocabularies of a dead letter are checks to the letter: three resolutions, resolved both or
-- neither, five words of triage under the name job_dead_letter_triage_check, with pending as the
-- default (§8.4, DP3 §3.5, DLQ document).
with expected(rule, named, words, none_other) as (
  values
    ('resolution', null, array['replayed', 'discarded', 'superseded'], 3),
    ('triage', 'job_dead_letter_triage_check',
     array['pending', 'acknowledged', 'manual_replay', 'escalated', 'closed'], 5),
    ('both or neither', null, array[]::text[], 0)
),
actual as (
  select c.conname,
         c.convalidated,
         pg_get_constraintdef(c.oid) as definition,
         array(
           select m[1]
             from regexp_matches(pg_get_constraintdef(c.oid), '''([^'']*)''', 'g') m
         ) as words
    from pg_catalog.pg_constraint c
   where c.conrelid = to_regclass('public.job_dead_letter')
     and c.contype = 'c'
)
select e.rule, e.words, a.conname as constraint, a.definition
  from expected e
  left join actual a on case e.rule
         when 'both or neither'
           then a.definition = 'CHECK (((resolved_at IS NULL) = (resolution IS NULL)))'
         else a.words @> e.words and cardinality(a.words) = e.none_other
       end
 where a.conname is null
    or not a.convalidated
    or a.conname is distinct from coalesce(e.named, a.conname)
union all
select 'triage default', array['pending'], null, pg_get_expr(d.adbin, d.adrelid)
  from (select 1) one
  left join pg_catalog.pg_attribute t on t.attrelid = to_regclass('public.job_dead_letter')
   and t.attname = 'triage_status'
  left join pg_catalog.pg_attrdef d on d.adrelid = t.attrelid
   and d.adnum = t.attnum
 where pg_get_expr(d.adbin, d.adrelid) is distinct from '''pending''::text'
 order by 1;
