-- Which release is installed, and since when: a reaper that has never run is measured from here.
-- Filled by fn_job_seed, so that a dump and restore of the extension keeps the row it had.
create table dot_queue.release (
  release text not null,
  installed_at timestamptz not null default clock_timestamp(),
  constraint release_pkey primary key (release)
);
