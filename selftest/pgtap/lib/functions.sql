-- Every public function of release 2.0 with arguments that are good but for the ids, which name
-- nothing: what a call needs is filled in, so that a test can ask of all of them at once.
create temp table surface(
  place int,
  fn text,
  arguments text,
  -- The roles that may call it (§11.5, contract §7).
  roles text[],
  -- Inert while the substrate is off (contract D16).
  gated boolean,
  volatility "char"
) on commit drop;
insert into surface values
  (1, 'fn_job_enqueue', '''surface'', ''test'', ''dot_iu'', ''surface'', ''{}''', '{dot_producer}', true, 'v'),
  (2, 'fn_job_enqueue_batch', '''[]''', '{dot_producer}', true, 'v'),
  (3, 'fn_job_claim', 'array[''surface''], ''n'', ''w''', '{dot_executor}', true, 'v'),
  (4, 'fn_job_claim_batch', 'array[''surface''], ''n'', ''w'', null, 2', '{dot_executor}', true, 'v'),
  (5, 'fn_job_lease_renew', 'gen_random_uuid(), gen_random_uuid()', '{dot_executor}', true, 'v'),
  (6, 'fn_job_progress', 'gen_random_uuid(), gen_random_uuid()', '{dot_executor}', true, 'v'),
  (7, 'fn_job_succeed', 'gen_random_uuid(), gen_random_uuid()', '{dot_executor}', true, 'v'),
  (8, 'fn_job_fail_transient', 'gen_random_uuid(), gen_random_uuid(), ''E'', ''m''', '{dot_executor}', true, 'v'),
  (9, 'fn_job_fail_permanent', 'gen_random_uuid(), gen_random_uuid(), ''E'', ''m''', '{dot_executor}', true, 'v'),
  (10, 'fn_job_move_to_dead_letter', 'gen_random_uuid(), ''E'', ''m''', '{}', true, 'v'),
  (11, 'fn_job_lease_reaper', '', '{workflow_admin}', true, 'v'),
  (12, 'fn_job_promote_due', '', '{workflow_admin}', true, 'v'),
  (13, 'fn_job_dead_letter_triage_update', 'gen_random_uuid(), ''closed'', ''judge''', '{workflow_admin}', false, 'v'),
  (14, 'fn_job_dead_letter_requeue_dry_run', 'gen_random_uuid()', '{workflow_admin}', false, 's'),
  (15, 'fn_job_get', 'gen_random_uuid()', '{dot_producer}', false, 's'),
  (16, 'fn_dead_letter_health', '', '{dot_auditor}', false, 's'),
  (17, 'fn_job_seed', '', '{workflow_admin}', false, 'v'),
  (18, 'fn_job_config_get', '''queue.retry.promoter''', '{dot_auditor,workflow_admin}', false, 's'),
  (19, 'fn_job_config_set', '''queue.retry.promoter'', ''claim''', '{workflow_admin}', false, 'v'),
  (20, 'fn_job_executor_set', '''surface'', ''*'', true', '{workflow_admin}', false, 'v');

-- Calls one of them: its answer; the claims, which return rows, as an array.
create function pg_temp.surface_call(p_fn text, p_arguments text, p_role text default null)
returns jsonb
language sql
as $$
  select case
    when p_fn like 'fn\_job\_claim%' then pg_temp.rows(format('select * from public.%I(%s)', p_fn, p_arguments), p_role)
    else pg_temp.answer(format('select public.%I(%s)', p_fn, p_arguments), p_role)
  end
$$;
