-- Every configured value of the queue's families beside what the catalogue says of it: the type,
-- the default, and what is wrong with the value, if anything. Judges one value by itself; rules
-- between values are in config_problem. Its reader needs EXECUTE on config_value_problem (a view
-- checks functions as who reads it), and that helper alone is granted.
create view dot_queue.config_value as
  select c.key,
         c.value,
         k.key as catalogue_key,
         k.default_value,
         c.updated_at,
         case
           when k.key is null then 'unknown key'
           else dot_queue.config_value_problem(k.value_type, k.min_value, k.max_value, k.choices,
                                               c.value)
         end as problem
    from dot_queue.host_config c
    left join dot_queue.config_catalogue k on k.key = c.key
      or (k.per_kind
          and k.key = regexp_replace(c.key, '\.[a-z][a-z0-9_]{0,62}$', '.default')
          and c.key !~ '\.(default|lease_reaper)$')
   where c.key ~
           '^queue\.(job_substrate|retry|lease|lease_reaper|enqueue|dlq|refusal|gap|health)\.';
