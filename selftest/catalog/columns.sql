-- Every column of the contract is there with its type, and NOT NULL where the contract says so
-- (contract §2, §3).
with expected(relation, attribute, type, required) as (
  select t.relation, split_part(c.text, ':', 1), split_part(c.text, ':', 2), c.text like '%:!'
    from (values
      ('job_queue', array[
         'job_id:uuid:!', 'job_kind:text:!', 'event_domain:text:!', 'executor:text:!',
         'idempotency_key:text:!', 'payload:jsonb:!', 'priority:integer:!', 'status:text:!',
         'claimable:boolean:!', 'process_after:timestamp with time zone:!',
         'enqueued_at:timestamp with time zone:!', 'attempts:integer:!', 'lease_name:text',
         'lease_holder:text', 'lease_token:uuid', 'leased_at:timestamp with time zone',
         'leased_until:timestamp with time zone', 'ended_token:uuid', 'ended_by:text',
         'first_failed_at:timestamp with time zone', 'last_error:text',
         'last_error_at:timestamp with time zone', 'finished_at:timestamp with time zone']),
      ('job_dead_letter', array[
         'dead_letter_id:uuid:!', 'job_id:uuid:!', 'job_kind:text:!', 'event_domain:text:!',
         'executor:text:!', 'idempotency_key:text:!', 'failure_code:text:!', 'failure_detail:text',
         'attempts:integer:!', 'job_snapshot:jsonb:!', 'first_failed_at:timestamp with time zone:!',
         'last_failed_at:timestamp with time zone:!', 'resolved_at:timestamp with time zone',
         'resolution:text', 'resolution_note:text', 'triage_status:text:!', 'triage_note:text',
         'triaged_at:timestamp with time zone', 'triaged_by:text']),
      ('job_executor', array['executor:text:!', 'job_kind:text:!']),
      ('job_sweep', array[
         'sweep_id:bigint:!', 'command:text:!', 'started_at:timestamp with time zone:!',
         'finished_at:timestamp with time zone:!', 'counts:jsonb:!']),
      ('dot_config', array['key:text:!', 'value:text:!', 'description:text',
         'updated_at:timestamp with time zone', 'updated_by:text']),
      ('dot_iu_runtime_lease', array['lease_name:text:!', 'lease_holder:text', 'lease_token:uuid',
         'acquired_at:timestamp with time zone', 'expires_at:timestamp with time zone',
         'renewed_at:timestamp with time zone']),
      ('event_pending', array['event_domain:text', 'event_type:text', 'severity:text',
         'payload:jsonb', 'occurred_at:timestamp with time zone', 'error_count:integer',
         'last_error:text']),
      ('iu_route_dead_letter', array['event_domain:text', 'event_type:text', 'route_code:text',
         'failure_code:text', 'failure_detail:text', 'attempts:integer',
         'first_failed_at:timestamp with time zone', 'last_failed_at:timestamp with time zone',
         'resolved_at:timestamp with time zone', 'resolution:text', 'resolution_note:text']),
      ('dot_iu_command_run', array['run_seq:bigint:!', 'command:text', 'actor:text',
         'session_role:text', 'job_id:uuid', 'dead_letter_id:uuid', 'status_from:text',
         'status_to:text', 'attempt:integer', 'refused:boolean', 'reason:text', 'detail:jsonb',
         'run_at:timestamp with time zone'])
    ) t(relation, columns)
   cross join unnest(t.columns) c(text)
)
select e.relation,
       e.attribute as column,
       e.type as expected,
       coalesce(format_type(a.atttypid, a.atttypmod), 'missing') as seen,
       a.attnotnull as not_null
  from expected e
  left join pg_catalog.pg_attribute a on a.attrelid = to_regclass('public.' || e.relation)
   and a.attname = e.attribute
   and not a.attisdropped
 where format_type(a.atttypid, a.atttypmod) is distinct from e.type
    or (e.required and not a.attnotnull)
 order by 1, 2;
