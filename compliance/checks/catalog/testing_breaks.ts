/** Ways to break the queue, each of which its rule must see. Tests only. */

/** One way to break the queue, which this rule must see. What must be put back stands in `mend`. */
export type Break = { rule: string; what: string; sql: string; mend?: string };
export const breaks: Break[] = [
  [
    'audit_chain',
    'a lost audit row',
    `delete from dot_iu_command_run where run_seq = (select min(run_seq) from dot_iu_command_run where status_to = 'leased')`,
  ],
  [
    'audit_chain',
    'a state that nobody gave',
    `update job_queue set status = 'cleaned' where status = 'succeeded'`,
  ],
  [
    'audit_chain',
    'a count that is not the trail’s',
    `update job_queue set attempts = 4 where status = 'queued'`,
  ],
  [
    'cadence',
    'a cadence above half of a lease',
    `alter table dot_config disable trigger user; update dot_config set value = '300' where key like '%cadence%'`,
  ],
  [
    'cadence',
    'a short lease of one kind',
    `alter table dot_config disable trigger user; insert into dot_config (key, value) values ('queue.lease.ttl_seconds.quick', '100')`,
  ],
  ['columns', 'a missing column', `alter table job_dead_letter drop column triage_note cascade`],
  [
    'columns',
    'a column that may be NULL',
    `alter table job_queue alter column payload drop not null`,
  ],
  ['columns', 'another type', `alter table job_queue alter column last_error type varchar(5000)`],
  [
    'config_complete',
    'a missing key',
    `delete from dot_config where key = 'queue.gap.ready_seconds'`,
  ],
  [
    'config_complete',
    'a bad value',
    `alter table dot_config disable trigger user; update dot_config set value = 'x' where key = 'queue.retry.promoter'`,
  ],
  ['config_guard', 'a guard that is switched off', `alter table dot_config disable trigger user`],
  [
    'config_guard',
    'no guard',
    `do $$ begin execute (select string_agg(format('drop trigger %I on dot_config', tgname), ';') from pg_trigger where tgrelid = 'dot_config'::regclass and not tgisinternal); end $$`,
  ],
  [
    'constraints',
    'a dropped constraint',
    `alter table job_queue drop constraint job_queue_claimable_check`,
  ],
  [
    'constraints',
    'a constraint that was not validated',
    `alter table job_queue drop constraint job_queue_attempts_check; alter table job_queue add constraint job_queue_attempts_check check (attempts >= 0) not valid`,
  ],
  [
    'constraints',
    'a state that is no longer allowed',
    `alter table job_queue drop constraint job_queue_status_check; alter table job_queue add constraint job_queue_status_check check (status in ('queued', 'leased', 'in_progress', 'retry_waiting', 'succeeded', 'cleaned'))`,
  ],
  [
    'dead_letter_vocabulary',
    'a sixth word of triage',
    `alter table job_dead_letter drop constraint job_dead_letter_triage_check; alter table job_dead_letter add constraint job_dead_letter_triage_check check (triage_status = any (array['pending', 'acknowledged', 'manual_replay', 'escalated', 'closed', 'lost']))`,
  ],
  [
    'dead_letter_vocabulary',
    'a resolution too few',
    `alter table job_dead_letter drop constraint job_dead_letter_resolution_check; alter table job_dead_letter add check (resolution in ('replayed', 'discarded'))`,
  ],
  [
    'dead_letter_vocabulary',
    'another default',
    `alter table job_dead_letter alter column triage_status set default 'closed'`,
  ],
  [
    'dead_letter_vocabulary',
    'resolved without a resolution',
    `alter table job_dead_letter drop constraint job_dead_letter_resolved_check`,
  ],
  [
    'functions_are_hardened',
    'a function open to PUBLIC',
    `grant execute on function fn_job_get(uuid) to public`,
  ],
  [
    'functions_are_hardened',
    'a function that was dropped and made again',
    `create function fn_job_get(text) returns jsonb language sql as 'select null::jsonb'`,
  ],
  [
    'functions_are_hardened',
    'a path without pg_temp',
    `alter function fn_job_claim(text[], text, text, integer) set search_path = pg_catalog`,
  ],
  [
    'functions_are_hardened',
    'no path at all',
    `alter function fn_job_succeed(uuid, uuid, text) reset all`,
  ],
  [
    'functions_are_hardened',
    'a caller’s function',
    `alter function fn_job_progress(uuid, uuid, text) security invoker`,
  ],
  ['functions_are_hardened', 'another owner', `alter function fn_job_seed() owner to current_user`],
  [
    'functions_are_hardened',
    'a helper open to PUBLIC',
    `create function dot_queue.leak() returns int language sql set search_path = pg_catalog, pg_temp as 'select 1'; alter function dot_queue.leak() owner to dot_queue_owner`,
  ],
  [
    'functions_as_documented',
    'an overload',
    `create function fn_job_claim(p_kind text) returns int language sql as 'select 1'`,
  ],
  [
    'functions_as_documented',
    'a function that is gone',
    `drop function fn_job_promote_due(integer)`,
  ],
  [
    'functions_as_documented',
    'another volatility',
    `alter function fn_job_dead_letter_requeue_dry_run(uuid) volatile`,
  ],
  [
    'functions_as_documented',
    'a default that is gone',
    `drop function fn_job_get(uuid); create function fn_job_get(p_job_id uuid default null) returns jsonb language sql stable as 'select null::jsonb'`,
  ],
  [
    'functions_as_documented',
    'a function of nobody',
    `create function fn_job_extra() returns int language sql as 'select 1'`,
  ],
  [
    'gap_view',
    'a lease without its mirror',
    `select fn_job_enqueue('x', 'x', 'dot_iu', 'x', '{}'); select fn_job_claim(array['x'], 'n', 'w'); delete from dot_iu_runtime_lease`,
  ],
  ['gap_view', 'a missing key', `delete from dot_config where key = 'queue.gap.ready_seconds'`],
  ['indexes', 'a dropped index', `drop index job_queue_due_idx`],
  [
    'indexes',
    'a claim index in another order',
    `drop index job_queue_claim_idx; create index on job_queue (job_kind, priority, enqueued_at, job_id) where status = 'queued' and claimable`,
  ],
  [
    'indexes',
    'a claim index of everything',
    `drop index job_queue_claim_idx; create index on job_queue (job_kind, priority desc, enqueued_at, job_id)`,
  ],
  [
    'indexes',
    'a key that need not be unique',
    `drop index job_queue_active_key_idx; create index on job_queue (idempotency_key) where status in ('queued', 'leased', 'in_progress', 'retry_waiting')`,
  ],
  [
    'indexes',
    'an index that is not valid',
    `update pg_index set indisvalid = false where indexrelid = 'job_queue_lease_idx'::regclass`,
  ],
  [
    'no_cascade',
    'a foreign key',
    `alter table job_dead_letter add foreign key (job_id) references job_queue on delete cascade`,
  ],
  ['no_cascade', 'a rule', `create rule forget as on insert to dot_iu_command_run do also nothing`],
  ['no_int4_reference', 'an int4 sequence', `alter sequence job_sweep_sweep_id_seq as integer`],
  [
    'no_int4_reference',
    'an id that is an int4',
    `create function dot_queue.by_id(p_job_id int) returns int language sql as 'select 1'`,
  ],
  [
    'no_pg_cron',
    'a function that schedules',
    `create function dot_queue.plan() returns void language plpgsql as $$ begin perform cron.schedule('x', 'y', 'z'); end $$`,
  ],
  [
    'no_requeue',
    'a function that replays',
    `create function fn_job_dead_letter_replay(p_dead_letter_id uuid) returns jsonb language sql as 'select null::jsonb'`,
  ],
  [
    'no_requeue',
    'a function that takes the dead back',
    `create function dot_queue.helper() returns void language sql as $$ update public.job_queue set status = 'queued' where status = 'dead_letter' $$`,
  ],
  [
    'no_requeue',
    'a dry run that may write',
    `alter function fn_job_dead_letter_requeue_dry_run(uuid) volatile`,
  ],
  [
    'no_state_outside',
    'a function that notifies',
    `create function dot_queue.tell() returns void language sql as $$ select pg_notify('a', 'b') $$`,
  ],
  ['no_state_outside', 'a table that a crash empties', `alter table job_sweep set unlogged`],
  ['no_vector', 'a vector in the queue', `alter table job_queue add column embedding float8[]`],
  ['owner_and_schema', 'a table of another owner', `alter table job_sweep owner to current_user`],
  ['owner_and_schema', 'a schema that is open', `grant usage on schema dot_queue to dot_auditor`],
  [
    'roles_are_plain',
    'a role that may log in',
    `alter role dot_executor login`,
    `alter role dot_executor nologin`,
  ],
  [
    'roles_are_plain',
    'a role within a role',
    `grant workflow_admin to dot_executor`,
    `revoke workflow_admin from dot_executor`,
  ],
  [
    'roles_are_plain',
    'a role that passes row security',
    `alter role dot_auditor bypassrls`,
    `alter role dot_auditor nobypassrls`,
  ],
  ['row_security', 'row level security', `alter table job_queue enable row level security`],
  ['row_security', 'a policy in waiting', `create policy p on job_queue using (false)`],
  [
    'runs_below_18',
    'a function of 18',
    `create function dot_queue.id() returns uuid language plpgsql as $$ begin return uuidv7(); end $$`,
  ],
  [
    'table_privileges',
    'a role that may write',
    `grant update (status) on job_queue to dot_executor`,
  ],
  ['table_privileges', 'PUBLIC that may read', `grant select on job_dead_letter to public`],
  [
    'table_privileges',
    'an auditor who reads payloads',
    `grant select (payload) on job_queue to dot_auditor`,
  ],
  [
    'table_privileges',
    'an auditor who reads everything',
    `grant select on job_queue to dot_auditor`,
  ],
  ['times_are_instants', 'a time without zone', `alter table job_sweep add column at timestamp`],
  [
    'views',
    'a view with another column',
    `drop view v_lease_active; create view v_lease_active as select lease_name, lease_holder, leased_until from job_queue`,
  ],
  ['views', 'a view that is gone', `drop view v_job_retry_pressure`],
].map(([rule = '', what = '', sql = '', mend]) => ({ rule, what, sql, ...(mend ? { mend } : {}) }));
