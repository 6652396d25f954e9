-- Takes the job queue away: psql -f sql/uninstall.sql. Refuses while there are jobs, dead letters or audit
-- rows of ours, unless told to purge: psql -v purge=1 -f sql/uninstall.sql, or before it
-- `set dieu45.purge = 'purge'`. Leaves the host's tables, even those that the install created: their rows
-- are not ours to judge. Drops the roles that the install created and nothing else uses.
\set ON_ERROR_STOP on
begin;
\ir uninstall/refuse_while_in_use.sql
\ir uninstall/drop_objects.sql
\ir uninstall/drop_roles.sql
commit;
