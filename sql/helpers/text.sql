-- What is wrong with a naming text (domain, executor, key, lease name, holder, actor), or NULL. No
-- function holds a backslash in a plain literal: a session may read those as escapes
-- (standard_conforming_strings = off), and would then find every name empty.
create function dot_queue.name_problem(p_value text, p_max_chars integer default 200)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_value is null then 'required'
    when p_value !~ '[^[:space:]]' then 'empty'
    when char_length(p_value) > p_max_chars then format('longer than %s characters', p_max_chars)
    when p_value ~ E'[\\u0001-\\u001f\\u007f-\\u009f]' then 'holds a control character'
  end;
end
$$;

-- What is wrong with a job kind, or NULL. The kind of the probe is taken only from an
-- administrator, by session_user: current_user inside a definer function is always the owner.
create function dot_queue.kind_problem(p_kind text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_kind is null then 'required'
    -- Its length apart: a bounded repeat costs a regular expression sixty times the states.
    when p_kind !~ '^[a-z][a-z0-9_]*$' or char_length(p_kind) > 63
      then 'must match ^[a-z][a-z0-9_]{0,62}$'
    when p_kind in ('default', 'lease_reaper') then 'reserved'
    when p_kind = 'dieu45_probe' and not pg_has_role(session_user, 'workflow_admin', 'member')
      then 'reserved for workflow_admin'
  end;
end
$$;

-- Error texts may hold anything: control characters become spaces, the rest is cut. Cut first: a
-- text of megabytes must not be cleaned to its end.
create function dot_queue.clean_text(p_value text, p_max_chars integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return regexp_replace(left(p_value, p_max_chars),
                        E'[\\u0001-\\u0008\\u000b-\\u001f\\u007f-\\u009f]', ' ', 'g');
end
$$;

-- The refusal of an actor, or NULL. NULL stands for the default; '' and blanks are a refusal of
-- their own (DLQ governance, proof step 11).
create function dot_queue.actor_refusal(p_actor text)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_actor is null then null
    when p_actor !~ '[^[:space:]]' then dot_queue.refusal('actor_required')
    when dot_queue.name_problem(p_actor) is not null
      then dot_queue.invalid_argument('p_actor', dot_queue.name_problem(p_actor))
  end;
end
$$;
