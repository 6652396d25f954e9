-- Takes the job queue away: psql -f sql/uninstall.sql. Refuses while there are jobs, dead letters
-- or audit rows of the queue, unless told to purge them:
--   psql -c "set dieu45.purge = 'yes'" -f sql/uninstall.sql
-- A host's own tables stay, without the queue's configuration, mirrors and (purged) audit rows;
-- host tables that the install created go. Roles go when the install created them and nothing uses
-- them.
\set ON_ERROR_STOP on
begin;
\ir uninstall/refuse_while_in_use.sql
\ir uninstall/drop_objects.sql
\ir uninstall/drop_roles.sql
commit;
