-- Every invariant of the tables is a named constraint that is there and validated. The words are what
-- its definition must speak of (§6.7, contract §3).
with expected(relation, about, words) as (
  values
    ('job_queue', 'the states',
     array['status', '''queued''', '''leased''', '''in_progress''', '''retry_waiting''', '''succeeded''',
           '''dead_letter''', '''cleaned''']),
    ('job_queue', 'claimable only when queued', array['claimable', 'status', '''queued''']),
    ('job_queue', 'all five lease columns or none',
     array['lease_name', 'lease_holder', 'lease_token', 'leased_at', 'leased_until', 'status']),
    ('job_queue', 'finite timestamps',
     array['isfinite(', 'process_after', 'enqueued_at', 'leased_at', 'leased_until', 'first_failed_at',
           'last_error_at', 'finished_at']),
    ('job_queue', 'attempts from 0', array['attempts', '>= 0']),
    ('job_queue', 'kinds and reserved kinds',
     array['job_kind', '^[a-z][a-z0-9_]*$', '63', '''default''', '''lease_reaper''']),
    ('job_queue', 'naming texts',
     array['event_domain', 'executor', 'idempotency_key', 'lease_name', 'lease_holder', '200']),
    ('job_queue', 'a payload that is an object', array['jsonb_typeof(payload)', '''object''']),
    ('job_queue', 'a payload that is small', array['octet_length', 'payload', '8192']),
    ('job_queue', 'a payload without vectors', array['jsonb_path_exists', 'payload', '> 64']),
    ('job_dead_letter', 'attempts from 1', array['attempts', '>= 1']),
    ('job_dead_letter', 'resolutions', array['resolution', '''replayed''', '''discarded''', '''superseded''']),
    ('job_dead_letter', 'resolved both or neither', array['resolved_at', 'resolution', 'IS NULL']),
    ('job_dead_letter', 'triage', array['triage_status', '''pending''', '''closed''']),
    ('job_dead_letter', 'finite timestamps',
     array['isfinite(', 'first_failed_at', 'last_failed_at', 'resolved_at', 'triaged_at']),
    ('job_executor', 'naming texts', array['executor', '200']),
    ('job_executor', 'kinds', array['job_kind', '^[a-z][a-z0-9_]*$', '63'])
)
select e.relation, e.about, c.conname as constraint, c.convalidated as validated
  from expected e
  left join pg_catalog.pg_constraint c on c.conrelid = to_regclass('public.' || e.relation)
   and c.contype = 'c'
   and not exists (
         select 1
           from unnest(e.words) w(word)
          where position(w.word in pg_get_constraintdef(c.oid)) = 0
       )
 where c.oid is null
    or not c.convalidated
 order by 1, 2;
