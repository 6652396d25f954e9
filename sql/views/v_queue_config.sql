-- Every key of the catalogue and of its families: configured value, value in force, default,
-- problem.
create view public.v_queue_config as
  select k.key,
         v.value,
         case
           when v.problem is null then coalesce(v.value, k.default_value)
           else k.default_value
         end as in_force,
         k.default_value,
         p.problem,
         k.description
    from dot_queue.config_catalogue k
    left join dot_queue.config_value v on v.key = k.key
    left join dot_queue.config_problem p on p.key = k.key
  union all
  select v.key, v.value, case when v.problem is null then v.value else v.default_value end,
         v.default_value, p.problem, null
    from dot_queue.config_value v
    left join dot_queue.config_problem p on p.key = v.key
   where v.catalogue_key is distinct from v.key;
