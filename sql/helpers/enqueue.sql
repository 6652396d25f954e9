-- What is wrong with the arguments of an enqueue, or NULL (§8.5, signal not data): in the order of
-- the arguments, then the configuration, then the executor set.
create function dot_queue.enqueue_refusal(
  p_job_kind text,
  p_event_domain text,
  p_executor text,
  p_idempotency_key text,
  p_payload jsonb,
  p_process_after timestamptz,
  p_actor text
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_argument text := 'p_job_kind';
  v_problem text := dot_queue.kind_problem(p_job_kind);
  v_refusal jsonb;
begin
  if v_problem is null then
    v_argument := 'p_event_domain';
    v_problem := dot_queue.name_problem(p_event_domain);
  end if;
  if v_problem is null then
    v_argument := 'p_executor';
    v_problem := dot_queue.name_problem(p_executor);
  end if;
  if v_problem is null then
    v_argument := 'p_idempotency_key';
    v_problem := dot_queue.name_problem(p_idempotency_key);
  end if;
  if v_problem is null and p_payload is null then
    v_argument := 'p_payload';
    v_problem := 'required';
  end if;
  if v_problem is not null then
    return dot_queue.invalid_argument(v_argument, v_problem);
  end if;

  v_refusal := coalesce(
    case when not dot_queue.payload_is_signal(p_payload) then
      dot_queue.refusal('payload_not_signal')
    end,
    case when not isfinite(p_process_after) then
      dot_queue.invalid_argument('p_process_after', 'must be finite')
    end,
    case
      when p_process_after > clock_timestamp()
        + make_interval(secs => dot_queue.config('queue.enqueue.max_delay_seconds')::integer) then
        dot_queue.invalid_argument('p_process_after',
                                   'further ahead than queue.enqueue.max_delay_seconds')
    end,
    dot_queue.actor_refusal(p_actor),
    dot_queue.config_refusal(array['queue.job_substrate.enabled', 'queue.enqueue.dedupe_seconds',
                                   'queue.enqueue.max_delay_seconds']));
  if v_refusal is not null then
    return v_refusal;
  end if;

  perform 1
     from public.job_executor e
    where e.executor = p_executor
      and e.job_kind in (p_job_kind, '*')
      and e.enabled;
  if not found then
    return dot_queue.refusal('unknown_executor',
      jsonb_build_object('executor', p_executor, 'job_kind', p_job_kind));
  end if;
  return null;
end
$$;

-- Is this a signal, not data? An object, small, and no numeric array longer than 64. The size is
-- asked first: a deep document must not reach the path query.
create function dot_queue.payload_is_signal(p_payload jsonb)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_payload) <> 'object' then
    return false;
  end if;
  if octet_length(p_payload::text) > 8192 then
    return false;
  end if;
  return not jsonb_path_exists(p_payload,
    'strict $.** ? (@.type() == "array" && @.size() > 64
                    && !exists(@[*] ? (@.type() != "number")))');
end
$$;

-- Stores one job whose arguments are good (§7): finds the active job of this key, the one that has
-- just finished, or makes a new one. Loops, since a job may finish between the look and the insert.
create function dot_queue.enqueue_one(
  p_command text,
  p_job_kind text,
  p_event_domain text,
  p_executor text,
  p_idempotency_key text,
  p_payload jsonb,
  p_priority integer,
  p_process_after timestamptz,
  p_actor text
)
returns jsonb
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz;
  v_process_after timestamptz;
  v_job_id uuid;
  v_found record;
begin
  loop
    v_found := dot_queue.finished_twin(p_job_kind, p_event_domain, p_executor, p_idempotency_key,
                                       p_payload);
    if v_found.job_id is not null then
      return jsonb_build_object('refused', false, 'created', false, 'job_id', v_found.job_id,
                                'status', v_found.status, 'finished', true);
    end if;

    v_now := clock_timestamp();
    v_process_after := coalesce(p_process_after, v_now);
    insert into public.job_queue as q
      (job_kind, event_domain, executor, idempotency_key, payload, priority, status, claimable,
       process_after, enqueued_at)
    values (p_job_kind, p_event_domain, p_executor, p_idempotency_key, p_payload,
            coalesce(p_priority, 0), 'queued', v_process_after <= v_now, v_process_after, v_now)
    on conflict (idempotency_key)
      where status in ('queued', 'leased', 'in_progress', 'retry_waiting')
      do nothing
    returning q.job_id
      into v_job_id;
    if v_job_id is not null then
      -- The twin may have finished between the look and the insert, which would run the work twice.
      v_found := dot_queue.finished_twin(p_job_kind, p_event_domain, p_executor, p_idempotency_key,
                                         p_payload);
      if v_found.job_id is not null then
        delete from public.job_queue q
         where q.job_id = v_job_id;
        return jsonb_build_object('refused', false, 'created', false, 'job_id', v_found.job_id,
                                  'status', v_found.status, 'finished', true);
      end if;
      perform dot_queue.audit(p_command, p_actor, v_job_id, null, 'queued', 0);
      return jsonb_build_object('refused', false, 'created', true, 'job_id', v_job_id,
                                'status', 'queued');
    end if;

    select q.job_id,
           q.status,
           q.job_kind = p_job_kind
             and q.event_domain = p_event_domain
             and q.executor = p_executor
             and q.payload = p_payload as same_content
      into v_found
      from public.job_queue q
     where q.idempotency_key = p_idempotency_key
       and q.status in ('queued', 'leased', 'in_progress', 'retry_waiting');
    if found and v_found.same_content then
      return jsonb_build_object('refused', false, 'created', false, 'job_id', v_found.job_id,
                                'status', v_found.status);
    end if;
    if found then
      return dot_queue.refuse(p_command, p_actor, v_found.job_id,
        dot_queue.refusal('idempotency_conflict',
          jsonb_build_object('job_id', v_found.job_id, 'status', v_found.status)));
    end if;
  end loop;
end
$$;

-- The job of the same key and content that finished within queue.enqueue.dedupe_seconds, if any:
-- the answer of its enqueue may have been lost, and the caller asks again.
create function dot_queue.finished_twin(
  p_job_kind text,
  p_event_domain text,
  p_executor text,
  p_idempotency_key text,
  p_payload jsonb,
  out job_id uuid,
  out status text
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_since timestamptz := clock_timestamp()
    - make_interval(secs => dot_queue.config('queue.enqueue.dedupe_seconds')::integer);
begin
  select q.job_id, q.status
    into job_id, status
    from public.job_queue q
   where q.idempotency_key = p_idempotency_key
     and q.finished_at is not null
     and q.finished_at > v_since
     and q.job_kind = p_job_kind
     and q.event_domain = p_event_domain
     and q.executor = p_executor
     and q.payload = p_payload
   order by q.finished_at desc
   limit 1;
end
$$;
