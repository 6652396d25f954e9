-- One item of a batch as the arguments of an enqueue. `refusal` is set when a key is unknown or a
-- value has the wrong JSON type; JSON null stands for the default, as NULL does.
create function dot_queue.enqueue_item(
  p_item jsonb,
  out refusal jsonb,
  out priority integer,
  out process_after timestamptz
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
  v_number numeric;
begin
  if jsonb_typeof(p_item) <> 'object' then
    refusal := dot_queue.invalid_argument('p_jobs', 'item must be an object');
    return;
  end if;

  select k.key
    into v_key
    from jsonb_object_keys(p_item) k(key)
   where k.key not in ('job_kind', 'event_domain', 'executor', 'idempotency_key', 'payload',
                       'priority', 'process_after', 'actor')
   order by k.key collate "C"
   limit 1;
  if found then
    refusal := dot_queue.invalid_argument(left(v_key, 200), 'unknown key');
    return;
  end if;

  select t.key
    into v_key
    from unnest(array['job_kind', 'event_domain', 'executor', 'idempotency_key', 'process_after',
                      'actor'])
           with ordinality t(key, place)
   where jsonb_typeof(p_item -> t.key) not in ('string', 'null')
   order by t.place
   limit 1;
  if found then
    refusal := dot_queue.invalid_argument('p_' || v_key, 'must be a string');
    return;
  end if;

  if jsonb_typeof(p_item -> 'priority') not in ('number', 'null') then
    refusal := dot_queue.invalid_argument('p_priority', 'must be a number');
    return;
  end if;
  v_number := (p_item ->> 'priority')::numeric;
  if v_number <> trunc(v_number) or v_number not between -2147483648 and 2147483647 then
    refusal := dot_queue.invalid_argument('p_priority', 'must be a whole number of 32 bits');
    return;
  end if;
  priority := v_number::integer;

  begin
    process_after := (p_item ->> 'process_after')::timestamptz;
  exception when others then
    refusal := dot_queue.invalid_argument('p_process_after', 'must be a time');
  end;
end
$$;

-- The results of a batch, in the order of its items. With p_each, an item that raises is answered
-- item_failed and undone by itself; without, it undoes the batch and the caller comes again.
create function dot_queue.enqueue_items(p_jobs jsonb, p_actor text, p_each boolean)
returns jsonb[]
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_results jsonb[] := array_fill(null::jsonb, array[jsonb_array_length(p_jobs)]);
  v_item record;
begin
  for v_item in
    select j.job, j.place
      from jsonb_array_elements(p_jobs) with ordinality j(job, place)
     order by (case when jsonb_typeof(j.job) = 'object' then j.job ->> 'idempotency_key' end)
                collate "C",
              j.place
  loop
    if p_each then
      begin
        v_results[v_item.place] := dot_queue.enqueue_checked(v_item.job, p_actor);
      exception when others then
        v_results[v_item.place] := dot_queue.refuse('fn_job_enqueue_batch', p_actor, null,
          dot_queue.refusal('item_failed', jsonb_build_object('sqlstate', sqlstate)));
      end;
    else
      v_results[v_item.place] := dot_queue.enqueue_checked(v_item.job, p_actor);
    end if;
  end loop;
  return v_results;
end
$$;

-- Checks one item and stores it.
create function dot_queue.enqueue_checked(p_item jsonb, p_actor text)
returns jsonb
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_item record;
  v_actor text;
  v_refusal jsonb;
begin
  v_item := dot_queue.enqueue_item(p_item);
  v_actor := p_actor;
  if jsonb_typeof(p_item) = 'object' then
    v_actor := coalesce(p_item ->> 'actor', p_actor);
  end if;
  v_refusal := coalesce(
    v_item.refusal,
    dot_queue.enqueue_refusal(
      p_item ->> 'job_kind', p_item ->> 'event_domain', p_item ->> 'executor',
      p_item ->> 'idempotency_key',
      case when jsonb_typeof(p_item -> 'payload') <> 'null' then p_item -> 'payload' end,
      v_item.process_after, v_actor));
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_enqueue_batch', v_actor, null, v_refusal);
  end if;
  return dot_queue.enqueue_one(
    'fn_job_enqueue_batch', p_item ->> 'job_kind', p_item ->> 'event_domain', p_item ->> 'executor',
    p_item ->> 'idempotency_key', p_item -> 'payload', v_item.priority, v_item.process_after,
    v_actor);
end
$$;
