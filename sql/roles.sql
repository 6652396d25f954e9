-- Roles (§11.5): five NOLOGIN roles, cluster-wide. Created only when absent, never altered. The
-- block catches 42710 and 23505 because another database of the cluster may be creating the same
-- role at this moment; an advisory lock would not help, since it is per database. A role that this
-- script created carries a comment, by which uninstall.sql knows it again.
do $$
declare
  v_role text;
begin
  foreach v_role in array array['dot_queue_owner', 'dot_executor', 'dot_producer', 'workflow_admin',
                                'dot_auditor'] loop
    if not exists (select 1 from pg_catalog.pg_roles r where r.rolname = v_role) then
      begin
        execute format('create role %I nologin', v_role);
        execute format('comment on role %I is %L', v_role, 'created by dieu45');
      exception when duplicate_object or unique_violation then
        null;
      end;
    end if;
  end loop;
  -- Without superuser, objects can be handed to the owner only by a member of it.
  if not pg_catalog.pg_has_role(current_user, 'dot_queue_owner', 'usage') then
    execute format('grant dot_queue_owner to %I', current_user);
  end if;
end
$$;
