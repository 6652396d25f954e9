-- The value in force of every key of the catalogue, for views: a good configured value, or the
-- default.
create view dot_queue.config_in_force as
  select k.key, coalesce(v.value, k.default_value) as value
    from dot_queue.config_catalogue k
    left join dot_queue.config_value v on v.key = k.key
     and v.problem is null;
