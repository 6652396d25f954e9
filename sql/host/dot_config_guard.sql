-- The guard of the queue's own keys; other documents' keys, queue.* among them, pass untouched.
create trigger dot_config_dieu45_guard
  after insert or update on public.dot_config
  for each row
  when (
    new.key ~ '^queue\.(job_substrate|retry|lease|lease_reaper|enqueue|dlq|refusal|gap|health)\.'
  )
  execute function dot_queue.config_guard();
