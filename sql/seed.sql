-- Default configuration, the first executor, the time of the install.
do $$
begin
  perform public.fn_job_seed();
end
$$;
