-- Helpers live in a schema of their own that only the owner may use (§11.5). Everything a caller
-- may touch is in public.
create schema dot_queue;
comment on schema dot_queue is
  'Private helpers of the job queue (Điều 45); nothing here is an interface';
