-- A refusal is a value (§8.5): refused, a code, and what explains it.
create function dot_queue.refusal(p_reason text, p_more jsonb default '{}')
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object('refused', true, 'reason', p_reason) || p_more;
end
$$;

-- The refusal of one argument: which, and what is wrong with it.
create function dot_queue.invalid_argument(p_argument text, p_problem text)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object('refused', true, 'reason', 'invalid_argument', 'argument', p_argument,
                            'problem', p_problem);
end
$$;

-- Row-returning functions cannot answer with a refusal, so they raise it: SQLSTATE D4500, the same
-- object as JSON in DETAIL.
create function dot_queue.raise_refusal(p_refusal jsonb)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'D4500',
    message = 'refused: ' || (p_refusal ->> 'reason'),
    detail = p_refusal::text;
end
$$;
