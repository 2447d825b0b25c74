-- Who sees and writes which rows. `(SELECT …)` runs once for a statement, and not for each row.

DO $policies$
DECLARE
    made record;
BEGIN
    FOR made IN SELECT tablename, policyname FROM pg_policies WHERE schemaname = 'public' LOOP
        EXECUTE format('DROP POLICY %I ON %I', made.policyname, made.tablename);
    END LOOP;
END
$policies$;

ALTER TABLE tb_workspace ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON tb_workspace FOR SELECT USING (id = (SELECT app.tenant_id()));

-- The second half is for the moment in which the service looks up the workspace of an account.
ALTER TABLE tb_member ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON tb_member FOR SELECT
    USING (tenant_id = (SELECT app.tenant_id()) OR id = (SELECT app.user_id()));

-- A private project is for owners.
ALTER TABLE tb_project ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON tb_project FOR SELECT
    USING (tenant_id = (SELECT app.tenant_id()) AND (NOT private OR (SELECT app.is_owner())));
CREATE POLICY written ON tb_project
    USING (tenant_id = (SELECT app.tenant_id()) AND (SELECT app.is_owner()));

-- A task is where its project is. The foreign key would find a project that its client may not see, as PostgreSQL checks
-- keys without policies; this subquery asks those of tb_project, for reads and for writes.
ALTER TABLE tb_task ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_project ON tb_task
    USING (tenant_id = (SELECT app.tenant_id()) AND project_id IN (SELECT id FROM tb_project));
