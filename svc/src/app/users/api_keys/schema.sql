-- API keys. Run it as the owner of the database, not as the role of the service: that role can look a key up whose
-- hash it knows, and can neither list keys nor issue them.
--
-- Default privileges of the owner, such as those that give the role of the service all new tables and functions, would
-- let that role list keys and issue them. They are revoked when the table and the function are created, so that running
-- this again keeps grants that were given since.
DO $do$
DECLARE
    is_new_table boolean := to_regclass('public.svc_api_key') IS NULL;
    is_new_function boolean := to_regprocedure(
        'public.svc_issue_api_key(text, text, text[], text[], timestamptz)'
    ) IS NULL;
    role text;
BEGIN
    CREATE TABLE IF NOT EXISTS public.svc_api_key (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        -- SHA-256 of the key, which has 244 random bits: no slow hash is needed.
        key_hash text NOT NULL UNIQUE CHECK (key_hash ~ '^[0-9a-f]{64}$'),
        user_id text NOT NULL CHECK (user_id <> ''),
        name text,
        roles text[] NOT NULL DEFAULT '{}',
        scopes text[] NOT NULL DEFAULT '{}',
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        revoked_at timestamptz
    );

    -- Issues a key and returns it. It is nowhere kept, so it is shown once.
    CREATE OR REPLACE FUNCTION public.svc_issue_api_key(
        user_id text, name text, roles text[], scopes text[], expires_at timestamptz
    ) RETURNS text LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        WITH made AS MATERIALIZED (
            SELECT 'svc_' || replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '') AS key
        ), kept AS (
            INSERT INTO public.svc_api_key (key_hash, user_id, name, roles, scopes, expires_at)
            SELECT encode(sha256(convert_to(made.key, 'UTF8')), 'hex'), $1, $2, $3, $4, $5 FROM made
        )
        SELECT made.key FROM made
    $$;

    FOR role IN
        SELECT 'PUBLIC'
        UNION
        SELECT coalesce(nullif(d.grantee, 0)::regrole::text, 'PUBLIC')
        FROM pg_class AS t
        JOIN (
            SELECT defaclrole, defaclnamespace, (aclexplode(defaclacl)).grantee FROM pg_default_acl
            WHERE defaclobjtype IN ('r', 'f')
        ) AS d ON d.defaclrole = t.relowner AND d.grantee <> t.relowner AND d.defaclnamespace IN (0, t.relnamespace)
        WHERE t.oid = 'public.svc_api_key'::regclass
    LOOP
        IF is_new_table THEN
            EXECUTE format('REVOKE ALL ON public.svc_api_key FROM %s', role);
        END IF;
        IF is_new_function THEN
            EXECUTE format(
                'REVOKE ALL ON FUNCTION public.svc_issue_api_key(text, text, text[], text[], timestamptz) FROM %s', role
            );
        END IF;
    END LOOP;
END $do$;

-- Whose the key with this hash is.
CREATE OR REPLACE FUNCTION public.svc_api_key_user(key_hash text) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT jsonb_build_object(
        'id', key.id, 'user_id', key.user_id, 'name', key.name, 'roles', key.roles, 'scopes', key.scopes,
        'issued_at', floor(extract(epoch FROM key.created_at))::bigint,
        'expires_at', floor(extract(epoch FROM key.expires_at))::bigint
    )
    FROM public.svc_api_key AS key
    WHERE key.key_hash = $1 AND key.revoked_at IS NULL
$$;

-- Those of these keys that are not revoked, for the sockets that they have opened.
CREATE OR REPLACE FUNCTION public.svc_api_keys_in_force(ids uuid[]) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(jsonb_agg(key.id), '[]')
    FROM public.svc_api_key AS key
    WHERE key.id = ANY ($1) AND key.revoked_at IS NULL
$$;
