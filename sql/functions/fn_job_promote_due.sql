-- Makes due rows claimable, of every kind, earliest first (§8.1, DP3 §3.3). A claim does so itself
-- while queue.retry.promoter is `claim`; with `job` this function alone does.
-- Answers {refused, promoted}. Refusals: substrate_disabled, isolation_level, invalid_argument.
create function public.fn_job_promote_due(p_limit integer default 1000)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_started_at timestamptz := clock_timestamp();
  v_limit integer := coalesce(p_limit, 1000);
  v_refusal jsonb;
  v_share record;
  v_flip record;
  v_bad uuid[] := array[]::uuid[];
  v_known_bad integer;
  v_promoted integer := 0;
begin
  v_refusal := coalesce(
    dot_queue.gate('fn_job_promote_due'),
    case when v_limit not between 1 and 100000 then
      dot_queue.invalid_argument('p_limit', 'must be from 1 to 100000')
    end);
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_promote_due', null, null, v_refusal);
  end if;

  -- The earliest p_limit due rows over all kinds decide how many each kind may have, so that none
  -- starves. A row that cannot be written has no share, so the rows behind it are asked for again.
  loop
    v_known_bad := cardinality(v_bad);
    for v_share in
      select d.job_kind, count(*)::integer as rows
        from (
               select h.job_kind, h.process_after
                 from dot_queue.due_kinds(v_started_at) k
                cross join lateral (
                        select q.job_kind, q.process_after
                          from public.job_queue q
                         where q.job_kind = k.job_kind
                           and not q.claimable
                           and q.status in ('queued', 'retry_waiting')
                           and q.process_after <= v_started_at
                           and q.job_id <> all (v_bad)
                         order by q.process_after
                         limit (select v_limit - v_promoted)
                      ) h
                order by h.process_after
                limit (select v_limit - v_promoted)
             ) d
       group by d.job_kind
       order by d.job_kind
    loop
      v_flip := dot_queue.flip_due('fn_job_promote_due', null, v_share.job_kind, v_share.rows,
                                   v_started_at, v_bad);
      v_promoted := v_promoted + v_flip.flipped;
      v_bad := v_flip.bad;
    end loop;
    exit when v_promoted >= v_limit or cardinality(v_bad) = v_known_bad;
  end loop;

  insert into public.job_sweep (command, started_at, finished_at, counts)
  values ('fn_job_promote_due', v_started_at, clock_timestamp(),
          jsonb_build_object('promoted', v_promoted));
  return jsonb_build_object('refused', false, 'promoted', v_promoted);
end
$$;
