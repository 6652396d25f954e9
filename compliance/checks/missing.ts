/**
 * Tells a missing part of the substrate from a fault of the check itself.
 *
 * On an empty database a check must fail, not break: the server's "does not exist" about something
 * that the contract names is a finding about the substrate (kit.md, "validate").
 */

const DOES_NOT_EXIST = new Set(['42P01', '42883', '42703', '3F000', '42704']);

const OBJECT =
  /\b(?:fn_job_\w+|fn_dead_letter_health|fn_dot_iu_runtime_lease_\w+|job_(?:queue|dead_letter|executor|sweep)|v_(?:dead_letter_all|job_\w+|lease_active|queue_\w+)|dot_(?:queue|config|iu_runtime_lease|iu_command_run|executor|producer|auditor|queue_owner)|iu_route_dead_letter|event_pending|workflow_admin)\b/;

// The server names a missing column without its table, so the columns of contract §2 and §3 count.
const COLUMN = new RegExp(
  `\\b(?:${[
    'job_id|job_kind|event_domain|executor|idempotency_key|payload|priority|status|claimable',
    'process_after|enqueued_at|attempts|lease_name|lease_holder|lease_token|leased_at|leased_until',
    'ended_token|ended_by|first_failed_at|last_failed_at|last_error|last_error_at|finished_at',
    'dead_letter_id|job_id_original|failure_code|failure_detail|job_snapshot|resolved_at|resolution',
    'resolution_note|triage_status|triage_note|triaged_at|triaged_by|sweep_id|command|counts',
    'run_seq|actor|session_role|status_from|status_to|attempt|refused|reason|detail|run_at',
    'overdue_seconds|since|signal|bound|level|ttl_remaining|max_attempts_seen',
  ].join('|')})\\b`,
);

/** A sentence naming what is missing, or undefined when the error is not about the contract. */
export function missingContractObject(sqlstate: string, message: string): string | undefined {
  if (!DOES_NOT_EXIST.has(sqlstate)) return undefined;
  const named = OBJECT.exec(message) ?? (sqlstate === '42703' ? COLUMN.exec(message) : null);
  return named ? `${named[0]} of the contract is there` : undefined;
}
