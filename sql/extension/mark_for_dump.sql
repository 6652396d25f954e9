-- A dump of the database holds these rows; everything else comes back with the extension itself.
-- The catalogue of configuration keys is not among them: it belongs to the release.
select pg_catalog.pg_extension_config_dump('public.dot_config', '');
select pg_catalog.pg_extension_config_dump('public.dot_iu_runtime_lease', '');
select pg_catalog.pg_extension_config_dump('public.iu_route_dead_letter', '');
select pg_catalog.pg_extension_config_dump('public.event_pending', '');
select pg_catalog.pg_extension_config_dump('public.dot_iu_command_run', '');
select pg_catalog.pg_extension_config_dump('public.dot_iu_command_run_run_seq_seq', '');
select pg_catalog.pg_extension_config_dump('public.job_queue', '');
select pg_catalog.pg_extension_config_dump('public.job_dead_letter', '');
select pg_catalog.pg_extension_config_dump('public.job_executor', '');
select pg_catalog.pg_extension_config_dump('public.job_sweep', '');
select pg_catalog.pg_extension_config_dump('public.job_sweep_sweep_id_seq', '');
select pg_catalog.pg_extension_config_dump('dot_queue.release', '');
