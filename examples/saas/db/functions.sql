-- What policies cannot say. The functions with SECURITY DEFINER run as the owner of the tables, whom no policy binds, so
-- each asks for itself who calls it.

-- The workspace and the role of the account that the request names.
CREATE OR REPLACE FUNCTION app.membership() RETURNS jsonb LANGUAGE sql STABLE
    RETURN (SELECT jsonb_build_object('tenant', tenant_id, 'role', role) FROM tb_member WHERE id = app.user_id());

-- Makes a workspace, whose owner is the account that asks for it.
CREATE OR REPLACE FUNCTION app.create_workspace(name text) RETURNS jsonb LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    made tb_workspace;
BEGIN
    IF app.user_id() IS NULL THEN
        RAISE EXCEPTION 'log in first';
    END IF;
    INSERT INTO tb_workspace (name) VALUES (create_workspace.name) RETURNING * INTO made;
    INSERT INTO tb_member (tenant_id, id, email, role)
    SELECT made.id, user_id, email, 'owner' FROM svc_auth.account WHERE user_id = app.user_id();
    RETURN jsonb_build_object('id', made.id, 'name', made.name);
END $$;

-- Takes the account with this address into the workspace.
CREATE OR REPLACE FUNCTION app.add_member(email text) RETURNS uuid LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    account svc_auth.account;
BEGIN
    IF app.tenant_id() IS NULL OR NOT app.is_owner() THEN
        RAISE EXCEPTION 'owners add members';
    END IF;
    SELECT * INTO account FROM svc_auth.account AS a WHERE lower(a.email) = lower(add_member.email);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no account with this address';
    END IF;
    INSERT INTO tb_member (id, email, role) VALUES (account.user_id, account.email, 'member');
    RETURN account.user_id;
END $$;

-- Issues a key that acts as the owner who asks for it, and returns it this once.
CREATE OR REPLACE FUNCTION app.issue_api_key(name text) RETURNS text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF app.tenant_id() IS NULL OR NOT app.is_owner() THEN
        RAISE EXCEPTION 'owners issue keys';
    END IF;
    RETURN svc_issue_api_key(app.user_id()::text, name, '{}', '{}', now() + interval '90 days');
END $$;
