-- Errors in groups, and their last occurrences: the schema `svc_errors`. It may be run again.
--
-- The service calls functions and has no rights on tables: run this as an owner, and then
-- `SELECT svc_errors.allow('the_role_of_the_service')`.

CREATE SCHEMA IF NOT EXISTS svc_errors;
REVOKE ALL ON SCHEMA svc_errors FROM PUBLIC;

-- Default privileges of the owner, such as those that give the role of the service all new tables, also apply to tables
-- of this schema, and PostgreSQL cannot exclude a schema from them. They are revoked when a table is created, so that
-- running this again keeps grants that were given since.
DO $do$
DECLARE
    existing oid[] := ARRAY(SELECT oid FROM pg_class WHERE relnamespace = 'svc_errors'::regnamespace);
    privilege record;
BEGIN
    CREATE TABLE IF NOT EXISTS svc_errors.error_group (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        fingerprint text NOT NULL UNIQUE,
        type text NOT NULL,
        file text NOT NULL,
        line integer NOT NULL,
        function text NOT NULL,
        message text NOT NULL,
        state text NOT NULL DEFAULT 'unresolved' CHECK (state IN ('unresolved', 'resolved', 'ignored')),
        occurrences bigint NOT NULL,
        times_reopened integer NOT NULL DEFAULT 0,
        first_seen timestamptz NOT NULL,
        last_seen timestamptz NOT NULL,
        first_release text NOT NULL,
        last_release text NOT NULL,
        resolved_at timestamptz
    );
    CREATE INDEX IF NOT EXISTS error_group_last_seen ON svc_errors.error_group (last_seen);

    CREATE TABLE IF NOT EXISTS svc_errors.occurrence (
        id uuid PRIMARY KEY,
        group_id uuid NOT NULL REFERENCES svc_errors.error_group ON DELETE CASCADE,
        occurred_at timestamptz NOT NULL,
        times integer NOT NULL,
        message text NOT NULL,
        stack_trace text,
        environment text NOT NULL,
        release_version text NOT NULL,
        request_id text,
        trace_id text,
        span_id text,
        user_id text,
        operation text,
        context jsonb NOT NULL
    );
    CREATE INDEX IF NOT EXISTS occurrence_group_id ON svc_errors.occurrence (group_id, occurred_at DESC);

    -- What was written, so that a batch that is sent again counts once.
    CREATE TABLE IF NOT EXISTS svc_errors.batch (id uuid PRIMARY KEY, written_at timestamptz NOT NULL);
    CREATE INDEX IF NOT EXISTS batch_written_at ON svc_errors.batch (written_at);

    FOR privilege IN
        SELECT DISTINCT t.oid::regclass AS name, coalesce(nullif(d.grantee, 0)::regrole::text, 'PUBLIC') AS role
        FROM pg_class AS t
        JOIN (
            SELECT defaclrole, defaclobjtype, (aclexplode(defaclacl)).grantee FROM pg_default_acl
            WHERE defaclnamespace = 0
        ) AS d ON d.defaclrole = t.relowner AND d.grantee <> t.relowner
        WHERE t.relnamespace = 'svc_errors'::regnamespace AND t.relkind IN ('r', 'p') AND t.oid <> ALL (existing)
            AND d.defaclobjtype = 'r'
    LOOP
        EXECUTE format('REVOKE ALL ON TABLE %s FROM %s', privilege.name, privilege.role);
    END LOOP;
END $do$;

-- Writes a batch. A group keeps its last 100 occurrences; of more than 10,000 groups, those seen last are kept.
CREATE OR REPLACE FUNCTION svc_errors.capture(batch_id uuid, groups jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = svc_errors, pg_catalog, pg_temp AS $$
DECLARE
    one jsonb;
    target uuid;
BEGIN
    INSERT INTO batch VALUES (batch_id, now()) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    DELETE FROM batch WHERE id IN (
        SELECT id FROM batch WHERE written_at < now() - interval '1 day' LIMIT 1000 FOR UPDATE SKIP LOCKED);
    -- In one order, so that batches of several instances do not wait for each other in a circle.
    FOR one IN SELECT value FROM jsonb_array_elements(groups) ORDER BY value->>'fingerprint' LOOP
        INSERT INTO error_group AS known
            (fingerprint, type, file, line, function, message, occurrences, first_seen, last_seen, first_release, last_release)
        VALUES (one->>'fingerprint', one->>'type', one->>'file', (one->>'line')::integer, one->>'function',
            one->>'message', (one->>'times')::bigint, (one->>'first_seen')::timestamptz,
            (one->>'last_seen')::timestamptz, one->>'release_version', one->>'release_version')
        ON CONFLICT (fingerprint) DO UPDATE SET
            message = excluded.message,
            occurrences = known.occurrences + excluded.occurrences,
            last_seen = greatest(known.last_seen, excluded.last_seen),
            last_release = excluded.last_release,
            state = CASE WHEN known.state = 'resolved' AND excluded.last_seen > known.resolved_at
                THEN 'unresolved' ELSE known.state END,
            times_reopened = known.times_reopened
                + (known.state = 'resolved' AND excluded.last_seen > known.resolved_at)::integer
        RETURNING id INTO target;
        INSERT INTO occurrence
            SELECT o.id, target, o.occurred_at, o.times, o.message, o.stack_trace, one->>'environment',
                one->>'release_version', o.request_id, o.trace_id, o.span_id, o.user_id, o.operation, o.context
            FROM jsonb_to_recordset(one->'occurrences') AS o (
                id uuid, occurred_at timestamptz, times integer, message text, stack_trace text, request_id text,
                trace_id text, span_id text, user_id text, operation text, context jsonb)
            ON CONFLICT DO NOTHING;
        DELETE FROM occurrence WHERE id IN (
            SELECT id FROM occurrence WHERE group_id = target ORDER BY occurred_at DESC, id OFFSET 100);
    END LOOP;
    DELETE FROM error_group WHERE id IN (SELECT id FROM error_group ORDER BY last_seen DESC, id OFFSET 10000);
END $$;

CREATE OR REPLACE FUNCTION svc_errors.groups(wanted text, most integer) RETURNS SETOF svc_errors.error_group
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = svc_errors, pg_catalog, pg_temp AS $$
    SELECT * FROM error_group WHERE wanted IS NULL OR state = wanted ORDER BY last_seen DESC, id LIMIT most
$$;

CREATE OR REPLACE FUNCTION svc_errors.occurrences(whose uuid, most integer) RETURNS SETOF svc_errors.occurrence
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = svc_errors, pg_catalog, pg_temp AS $$
    SELECT * FROM occurrence WHERE group_id = whose ORDER BY occurred_at DESC, id LIMIT most
$$;

CREATE OR REPLACE FUNCTION svc_errors.find(error_id uuid) RETURNS SETOF svc_errors.occurrence
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = svc_errors, pg_catalog, pg_temp AS $$
    SELECT * FROM occurrence WHERE id = error_id
$$;

-- Whether there is such a group, which is in this state from now on.
CREATE OR REPLACE FUNCTION svc_errors.set_state(whose uuid, new_state text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = svc_errors, pg_catalog, pg_temp AS $$
BEGIN
    UPDATE error_group SET state = new_state,
        resolved_at = CASE WHEN new_state = 'resolved' THEN clock_timestamp() END
    WHERE id = whose;
    RETURN FOUND;
END $$;

-- Lets a role use all of this, which is to call the functions.
CREATE OR REPLACE FUNCTION svc_errors.allow(role name) RETURNS void
LANGUAGE plpgsql SET search_path = svc_errors, pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA svc_errors TO %I', role);
    EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA svc_errors TO %I', role);
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA svc_errors FROM PUBLIC;
