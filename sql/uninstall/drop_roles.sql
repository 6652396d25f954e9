-- Drops the roles that the install created and nothing uses: no member but us, no object or grant
-- here or in another database.
revoke all on schema public from dot_queue_owner;

do $$
declare
  v_role text;
begin
  for v_role in
    select r.rolname
      from pg_catalog.pg_roles r
     where r.rolname in ('dot_executor', 'dot_producer', 'workflow_admin', 'dot_auditor',
                         'dot_queue_owner')
       and shobj_description(r.oid, 'pg_authid') = 'created by dieu45'
       and not exists (
             select 1
               from pg_catalog.pg_auth_members m
              where m.roleid = r.oid
                and m.member <> current_user::regrole
           )
  loop
    begin
      execute format('drop role %I', v_role);
    exception when dependent_objects_still_exist then
      null;
    end;
  end loop;
end
$$;
