-- Every configured value of the queue's families beside what the catalogue says of it: the type, the
-- default, and what is wrong with the value, if anything. Judges one value by itself; rules between
-- values are in config_problem. In plain SQL, because a view's reader would need EXECUTE on a helper.
create view dot_queue.config_value as
  select c.key,
         c.value,
         k.key as catalogue_key,
         k.default_value,
         c.updated_at,
         case
           when k.key is null then 'unknown key'
           when c.value is null then 'no value'
           when k.value_type = 'boolean' and c.value not in ('true', 'false')
             then 'must be true or false'
           when k.value_type = 'choice' and c.value <> all (k.choices)
             then 'must be one of ' || array_to_string(k.choices, ', ')
           when k.value_type = 'integer' and c.value !~ '^[0-9]{1,10}$'
             then 'must be a whole number'
           when k.value_type = 'integer' and c.value::bigint not between k.min_value and k.max_value
             then format('must be from %s to %s', k.min_value, k.max_value)
         end as problem
    from dot_queue.host_config c
    left join dot_queue.config_catalogue k
      on k.key in (c.key, regexp_replace(c.key, '\.[a-z][a-z0-9_]{0,62}$', '.default'))
     and (k.key = c.key or (k.per_kind and c.key !~ '\.lease_reaper$'))
   where c.key ~ '^queue\.(job_substrate|retry|lease|lease_reaper|enqueue|dlq|refusal|gap|health)\.';
