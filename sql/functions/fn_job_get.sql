-- One job as it stands, never with a token (§6.7). Refusals: invalid_argument, job_not_found.
create function public.fn_job_get(p_job_id uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job jsonb;
begin
  if p_job_id is null then
    return dot_queue.invalid_argument('p_job_id', 'required');
  end if;
  select to_jsonb(q) - 'lease_token' - 'ended_token' - 'ended_outcome'
    into v_job
    from public.job_queue q
   where q.job_id = p_job_id;
  if not found then
    return dot_queue.refusal('job_not_found', jsonb_build_object('job_id', p_job_id));
  end if;
  return jsonb_build_object('refused', false) || v_job;
end
$$;
