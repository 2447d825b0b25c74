-- Workspaces, and what they hold. Each key has the workspace in it, as PostgreSQL checks keys without asking policies.
SET LOCAL client_min_messages = warning;

CREATE SCHEMA IF NOT EXISTS app;

-- The client of the request, as the service says. Null where the request says nothing.
CREATE OR REPLACE FUNCTION app.tenant_id() RETURNS uuid LANGUAGE sql STABLE
    RETURN nullif(current_setting('app.tenant_id', true), '')::uuid;
CREATE OR REPLACE FUNCTION app.user_id() RETURNS uuid LANGUAGE sql STABLE
    RETURN nullif(current_setting('app.user_id', true), '')::uuid;
CREATE OR REPLACE FUNCTION app.is_owner() RETURNS boolean LANGUAGE sql STABLE
    RETURN coalesce(current_setting('app.role', true) = 'owner', false);

CREATE TABLE IF NOT EXISTS tb_workspace (
    id    uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name  text NOT NULL
);

-- An account belongs to one workspace.
CREATE TABLE IF NOT EXISTS tb_member (
    tenant_id  uuid NOT NULL DEFAULT app.tenant_id() REFERENCES tb_workspace,
    id         uuid NOT NULL,
    email      text NOT NULL,
    role       text NOT NULL CHECK (role IN ('owner', 'member')),
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT tb_member_once UNIQUE (id)
);

CREATE TABLE IF NOT EXISTS tb_project (
    tenant_id  uuid NOT NULL DEFAULT app.tenant_id() REFERENCES tb_workspace,
    id         uuid NOT NULL DEFAULT gen_random_uuid(),
    name       text NOT NULL,
    private    boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT tb_project_name UNIQUE (tenant_id, name)
);

CREATE TABLE IF NOT EXISTS tb_task (
    tenant_id    uuid NOT NULL DEFAULT app.tenant_id() REFERENCES tb_workspace,
    id           uuid NOT NULL DEFAULT gen_random_uuid(),
    project_id   uuid NOT NULL,
    assignee_id  uuid,
    title        text NOT NULL,
    done         boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT tb_task_project FOREIGN KEY (tenant_id, project_id) REFERENCES tb_project ON DELETE CASCADE,
    CONSTRAINT tb_task_assignee FOREIGN KEY (tenant_id, assignee_id) REFERENCES tb_member
);

CREATE INDEX IF NOT EXISTS tb_task_project_id ON tb_task (tenant_id, project_id);
CREATE INDEX IF NOT EXISTS tb_task_assignee_id ON tb_task (tenant_id, assignee_id);
