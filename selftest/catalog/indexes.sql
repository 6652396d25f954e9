-- The index of each operation is there with its columns and predicate, and valid: claim, due, unique
-- key, repeated enqueue, reap, the one open dead letter, inspection, lost events (DP3 §5, contract
-- §1 D8, D17, §3, §6).
with expected(operation, relation, is_unique, columns, words) as (
  values
    ('claim', 'job_queue', false, 'job_kind, priority DESC, enqueued_at, job_id',
     array['claimable', 'queued']),
    ('due', 'job_queue', false, 'job_kind, process_after', array['NOT claimable', 'retry_waiting']),
    ('one active job a key', 'job_queue', true, 'idempotency_key',
     array['queued', 'leased', 'in_progress', 'retry_waiting']),
    ('repeated enqueue', 'job_queue', false, 'idempotency_key, finished_at DESC',
     array['finished_at IS NOT NULL']),
    ('reap', 'job_queue', false, 'leased_until', array['leased', 'in_progress']),
    ('job by id', 'job_queue', true, 'job_id', array[]::text[]),
    ('dead letter by id', 'job_dead_letter', true, 'dead_letter_id', array[]::text[]),
    ('one open dead letter a job', 'job_dead_letter', true, 'job_id', array['resolved_at IS NULL']),
    ('inspection', 'job_dead_letter', false, 'job_kind, last_failed_at DESC', array[]::text[]),
    ('lost events', 'dot_iu_command_run', false, 'run_at', array['event_lost'])
),
actual as (
  select i.*,
         regexp_replace(pg_get_indexdef(i.indexrelid), '^.* USING btree \((.*?)\)( WHERE .*)?$', '\1')
           as columns,
         coalesce(pg_get_expr(i.indpred, i.indrelid), '') as predicate
    from pg_catalog.pg_index i
)
select e.operation, e.relation, e.columns, e.words as predicate, a.indexrelid::regclass as index,
       a.indisvalid as valid
  from expected e
  left join actual a on a.indrelid = to_regclass('public.' || e.relation)
   and a.indisunique = e.is_unique
   and a.columns = e.columns
   and (a.predicate = '') = (cardinality(e.words) = 0)
   and not exists (
         select 1
           from unnest(e.words) w(word)
          where position(w.word in a.predicate) = 0
       )
 where a.indexrelid is null
    or not a.indisvalid
    or not a.indisready
 order by 1;
