-- Accounts, their sessions, and what guards them: the schema `svc_auth`. It may be run again.
--
-- The service calls functions and has no rights on tables, so that it cannot read hashes of passwords: run this as an
-- owner, and then `SELECT svc_auth.allow('the_role_of_the_service')`.

CREATE SCHEMA IF NOT EXISTS svc_auth;
REVOKE ALL ON SCHEMA svc_auth FROM PUBLIC;

-- Default privileges of the owner, such as those that give the role of the service all new tables, also apply to tables
-- of this schema, and PostgreSQL cannot exclude a schema from them. They are revoked when a table is created, so that
-- running this again keeps grants that were given since.
DO $do$
DECLARE
    existing oid[] := ARRAY(SELECT oid FROM pg_class WHERE relnamespace = 'svc_auth'::regnamespace);
    privilege record;
BEGIN
    CREATE TABLE IF NOT EXISTS svc_auth.account (
        user_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        username text NOT NULL UNIQUE,
        email text NOT NULL,
        email_verified boolean NOT NULL DEFAULT false,
        name text,
        roles text[] NOT NULL DEFAULT '{}',
        permissions text[] NOT NULL DEFAULT '{}',
        disabled boolean NOT NULL DEFAULT false,
        created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX IF NOT EXISTS account_email ON svc_auth.account (lower(email));

    CREATE TABLE IF NOT EXISTS svc_auth.password (
        user_id uuid PRIMARY KEY REFERENCES svc_auth.account ON DELETE CASCADE,
        hash text NOT NULL
    );

    -- Users may lie in tables of the application's own, so nothing below refers to accounts.
    CREATE TABLE IF NOT EXISTS svc_auth.session (
        id uuid PRIMARY KEY,
        user_id uuid NOT NULL,
        refresh_id uuid NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        last_used_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        ended_at timestamptz,
        user_agent text
    );
    -- Whether the access tokens of a session that has ended are revoked.
    ALTER TABLE svc_auth.session ADD COLUMN IF NOT EXISTS revoked boolean NOT NULL DEFAULT false;
    CREATE INDEX IF NOT EXISTS session_unrevoked ON svc_auth.session (ended_at)
        WHERE ended_at IS NOT NULL AND NOT revoked;
    CREATE INDEX IF NOT EXISTS session_user_id ON svc_auth.session (user_id, created_at);
    CREATE INDEX IF NOT EXISTS session_expires_at ON svc_auth.session (expires_at);

    -- Counts the times that all sessions of a user have ended, so that a log-in that began before gives none.
    CREATE TABLE IF NOT EXISTS svc_auth.epoch (user_id uuid PRIMARY KEY, epoch bigint NOT NULL);

    CREATE UNLOGGED TABLE IF NOT EXISTS svc_auth.attempt (
        key text PRIMARY KEY,
        count integer NOT NULL,
        until timestamptz NOT NULL
    );
    CREATE INDEX IF NOT EXISTS attempt_until ON svc_auth.attempt (until);

    -- Networks from which users have logged in. Both columns are codes that tell neither names nor addresses.
    CREATE TABLE IF NOT EXISTS svc_auth.known_network (
        account text NOT NULL,
        network text NOT NULL,
        until timestamptz NOT NULL,
        PRIMARY KEY (account, network)
    );
    CREATE INDEX IF NOT EXISTS known_network_until ON svc_auth.known_network (until);

    CREATE TABLE IF NOT EXISTS svc_auth.mailed_token (
        user_id uuid NOT NULL,
        purpose text NOT NULL,
        mac text NOT NULL,
        email text NOT NULL,
        expires_at timestamptz NOT NULL,
        PRIMARY KEY (user_id, purpose)
    );
    CREATE UNIQUE INDEX IF NOT EXISTS mailed_token_mac ON svc_auth.mailed_token (mac);
    CREATE INDEX IF NOT EXISTS mailed_token_expires_at ON svc_auth.mailed_token (expires_at);

    CREATE TABLE IF NOT EXISTS svc_auth.revoked_token (id text PRIMARY KEY, until timestamptz NOT NULL);
    CREATE INDEX IF NOT EXISTS revoked_token_until ON svc_auth.revoked_token (until);
    CREATE TABLE IF NOT EXISTS svc_auth.revoked_subject (
        subject text PRIMARY KEY,
        cut_off double precision NOT NULL,
        until timestamptz NOT NULL
    );
    CREATE INDEX IF NOT EXISTS revoked_subject_until ON svc_auth.revoked_subject (until);

    FOR privilege IN
        SELECT DISTINCT t.oid::regclass AS name, coalesce(nullif(d.grantee, 0)::regrole::text, 'PUBLIC') AS role
        FROM pg_class AS t
        JOIN (
            SELECT defaclrole, defaclobjtype, (aclexplode(defaclacl)).grantee FROM pg_default_acl
            WHERE defaclnamespace = 0
        ) AS d ON d.defaclrole = t.relowner AND d.grantee <> t.relowner
        WHERE t.relnamespace = 'svc_auth'::regnamespace AND t.relkind IN ('r', 'p') AND t.oid <> ALL (existing)
            AND d.defaclobjtype = 'r'
    LOOP
        EXECUTE format('REVOKE ALL ON TABLE %s FROM %s', privilege.name, privilege.role);
    END LOOP;
END $do$;

-- Users.

CREATE OR REPLACE FUNCTION svc_auth.account_json(found svc_auth.account) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    SELECT CASE WHEN found.user_id IS NULL THEN NULL ELSE to_jsonb(found) END
$$;

CREATE OR REPLACE FUNCTION svc_auth.user_by_username(wanted text) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    SELECT account_json(account) FROM account WHERE username = wanted
$$;

CREATE OR REPLACE FUNCTION svc_auth.user_by_id(wanted uuid) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    SELECT account_json(account) FROM account WHERE user_id = wanted
$$;

CREATE OR REPLACE FUNCTION svc_auth.user_by_email(wanted text) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    SELECT account_json(account) FROM account WHERE lower(email) = lower(wanted)
$$;

-- NULL when the name or the address is taken.
CREATE OR REPLACE FUNCTION svc_auth.create_user(username text, hash text, email text) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
DECLARE made account;
BEGIN
    INSERT INTO account (username, email) VALUES ($1, $3) ON CONFLICT DO NOTHING RETURNING * INTO made;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    INSERT INTO password VALUES (made.user_id, $2);
    RETURN account_json(made);
END $$;

-- The hash of a password without its last part: the algorithm, its parameters and the salt.
CREATE OR REPLACE FUNCTION svc_auth.password_salt(wanted uuid) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    SELECT to_jsonb(regexp_replace(hash, '[$][^$]*$', '')) FROM password WHERE user_id = wanted
$$;

CREATE OR REPLACE FUNCTION svc_auth.password_matches(wanted uuid, hash text) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    SELECT to_jsonb(EXISTS (SELECT FROM password WHERE user_id = $1 AND password.hash = $2))
$$;

CREATE OR REPLACE FUNCTION svc_auth.set_password(wanted uuid, hash text, in_place_of text) RETURNS jsonb
LANGUAGE sql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    WITH changed AS (
        UPDATE password SET hash = $2 WHERE user_id = $1 AND ($3 IS NULL OR password.hash = $3) RETURNING 1
    )
    SELECT to_jsonb(EXISTS (SELECT FROM changed))
$$;

CREATE OR REPLACE FUNCTION svc_auth.verify_email(wanted uuid, address text) RETURNS jsonb
LANGUAGE sql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    WITH changed AS (UPDATE account SET email_verified = true WHERE user_id = $1 AND email = $2 RETURNING 1)
    SELECT to_jsonb(EXISTS (SELECT FROM changed))
$$;

CREATE OR REPLACE FUNCTION svc_auth.delete_user(wanted uuid) RETURNS jsonb
LANGUAGE sql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    WITH gone AS (DELETE FROM account WHERE user_id = $1 RETURNING 1)
    SELECT to_jsonb(EXISTS (SELECT FROM gone))
$$;

-- Sessions.

-- What ends all sessions and what begins one take turns.
CREATE OR REPLACE FUNCTION svc_auth.take_turn(wanted uuid) RETURNS void
LANGUAGE sql SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('svc_auth ' || wanted, 0))
$$;

CREATE OR REPLACE FUNCTION svc_auth.epoch_of(wanted uuid) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    SELECT to_jsonb(coalesce((SELECT epoch FROM epoch WHERE user_id = wanted), 0))
$$;

-- False when all sessions of the user have ended since the epoch was read. A user has the newest hundred; those that are
-- pushed out are told, as their access tokens have to end. The clock is the one by which all sessions end.
CREATE OR REPLACE FUNCTION svc_auth.begin_session(
    wanted uuid, session_id uuid, refresh uuid, seconds double precision, known_epoch bigint, agent text
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
DECLARE gone jsonb;
BEGIN
    PERFORM take_turn(wanted);
    IF coalesce((SELECT epoch FROM epoch WHERE user_id = wanted), 0) <> known_epoch THEN
        RETURN to_jsonb(false);
    END IF;
    INSERT INTO session (id, user_id, refresh_id, expires_at, user_agent)
        VALUES (session_id, wanted, refresh, now() + make_interval(secs => seconds), agent);
    -- Rows stay until the tokens are revoked, which may fail at first.
    DELETE FROM session WHERE (revoked OR ended_at < now() - interval '1 day') AND id IN (
        SELECT id FROM session WHERE user_id = wanted ORDER BY created_at DESC, id OFFSET 100
    );
    WITH pushed_out AS (
        UPDATE session SET ended_at = now() WHERE ended_at IS NULL AND id IN (
            SELECT id FROM session WHERE user_id = wanted ORDER BY created_at DESC, id OFFSET 100
        ) RETURNING id
    )
    SELECT coalesce(jsonb_agg(id), '[]') INTO gone FROM pushed_out;
    RETURN jsonb_build_object('at', extract(epoch FROM clock_timestamp()), 'pushed_out', gone);
END $$;

-- A refresh token is exchanged once. One that comes again ends its session, and the first to see that is told.
CREATE OR REPLACE FUNCTION svc_auth.rotate_session(
    session_id uuid, presented uuid, next uuid, seconds double precision
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
DECLARE owner uuid;
BEGIN
    UPDATE session SET refresh_id = next, last_used_at = now(), expires_at = now() + make_interval(secs => seconds)
        WHERE id = session_id AND refresh_id = presented AND ended_at IS NULL AND expires_at > now()
        RETURNING user_id INTO owner;
    IF FOUND THEN
        RETURN jsonb_build_object(
            'outcome', 'rotated', 'user_id', owner, 'at', extract(epoch FROM clock_timestamp())
        );
    END IF;
    UPDATE session SET ended_at = now() WHERE id = session_id AND ended_at IS NULL AND refresh_id <> presented
        RETURNING user_id INTO owner;
    IF FOUND THEN
        RETURN jsonb_build_object('outcome', 'reused', 'user_id', owner);
    END IF;
    RETURN jsonb_build_object('outcome', 'ended');
END $$;

-- Whether the user has this session, or had it until a day ago: its access tokens may still be valid, so a request to
-- end it can be repeated.
CREATE OR REPLACE FUNCTION svc_auth.end_session(wanted uuid, session_id uuid) RETURNS jsonb
LANGUAGE sql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    WITH ended AS (
        UPDATE session SET ended_at = coalesce(ended_at, now()) WHERE id = session_id AND user_id = wanted
            AND (ended_at IS NULL OR ended_at > now() - interval '1 day') RETURNING 1
    )
    SELECT to_jsonb(EXISTS (SELECT FROM ended))
$$;

-- The sessions of the last day whose access tokens may still hold, so that it can be asked for again.
CREATE OR REPLACE FUNCTION svc_auth.end_sessions(wanted uuid) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
BEGIN
    PERFORM take_turn(wanted);
    INSERT INTO epoch VALUES (wanted, 1) ON CONFLICT (user_id) DO UPDATE SET epoch = epoch.epoch + 1;
    UPDATE session SET ended_at = now() WHERE user_id = wanted AND ended_at IS NULL;
    RETURN (SELECT jsonb_build_object(
            'at', extract(epoch FROM clock_timestamp()), 'sessions', coalesce(jsonb_agg(id), '[]'))
        FROM session WHERE user_id = wanted AND ended_at > now() - interval '1 day');
END $$;

-- Sets the password and ends all sessions, or does neither. NULL when the stored hash is not `in_place_of`.
CREATE OR REPLACE FUNCTION svc_auth.replace_password(wanted uuid, hash text, in_place_of text) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
BEGIN
    IF set_password(wanted, hash, in_place_of) = to_jsonb(false) THEN
        RETURN NULL;
    END IF;
    RETURN end_sessions(wanted);
END $$;

-- Sets the password, ends all sessions and begins one, or does none of it. NULL when the stored hash is not
-- `in_place_of`.
CREATE OR REPLACE FUNCTION svc_auth.change_password(
    wanted uuid, hash text, in_place_of text, session_id uuid, refresh uuid, seconds double precision, agent text
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
DECLARE ended jsonb := replace_password(wanted, hash, in_place_of);
BEGIN
    IF ended IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN jsonb_build_object(
        'ended', ended,
        'begun', begin_session(wanted, session_id, refresh, seconds, epoch_of(wanted)::bigint, agent)
    );
END $$;

-- Sessions of all users that have ended, and whose access tokens may still hold.
CREATE OR REPLACE FUNCTION svc_auth.unrevoked_sessions() RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    SELECT coalesce(jsonb_agg(id), '[]') FROM (
        SELECT id FROM session WHERE NOT revoked AND ended_at > now() - interval '1 day' ORDER BY ended_at LIMIT 100
    ) AS ended
$$;

CREATE OR REPLACE FUNCTION svc_auth.note_revoked(ids text[]) RETURNS jsonb
LANGUAGE sql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    UPDATE session SET revoked = true WHERE id = ANY (ids::uuid[]) AND ended_at IS NOT NULL;
    SELECT to_jsonb(true)
$$;

CREATE OR REPLACE FUNCTION svc_auth.sessions(wanted uuid) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object(
        'id', id, 'created_at', created_at, 'last_used_at', last_used_at, 'expires_at', expires_at,
        'user_agent', user_agent
    ) ORDER BY last_used_at DESC, id), '[]')
    FROM session WHERE user_id = wanted AND ended_at IS NULL AND expires_at > now()
$$;

-- Attempts.

-- Counts an attempt for each key in turn, and stops at the first that has had too many: the seconds to wait, or 0.
CREATE OR REPLACE FUNCTION svc_auth.count_attempt(keys text[], limits text[], seconds double precision) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
DECLARE counted attempt;
BEGIN
    IF random() < 0.01 THEN
        PERFORM remove_expired();
    END IF;
    FOR place IN 1 .. cardinality(keys) LOOP
        INSERT INTO attempt VALUES (keys[place], 1, now() + make_interval(secs => seconds))
            ON CONFLICT (key) DO UPDATE SET
                count = CASE WHEN attempt.until <= now() THEN 1 ELSE least(attempt.count, 1000000) + 1 END,
                until = CASE WHEN attempt.until <= now() THEN excluded.until ELSE attempt.until END
            RETURNING * INTO counted;
        IF counted.count > limits[place]::integer THEN
            -- What is refused is no attempt.
            UPDATE attempt SET count = limits[place]::integer WHERE key = keys[place];
            UPDATE attempt SET count = greatest(count - 1, 0) WHERE key = ANY (keys[: place - 1]);
            RETURN to_jsonb(greatest(ceil(extract(epoch FROM counted.until - now()))::integer, 1));
        END IF;
    END LOOP;
    RETURN to_jsonb(0);
END $$;

-- Takes an attempt back that was none.
CREATE OR REPLACE FUNCTION svc_auth.forgive_attempt(keys text[]) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
BEGIN
    FOR place IN 1 .. cardinality(keys) LOOP
        UPDATE attempt SET count = greatest(count - 1, 0) WHERE key = keys[place];
    END LOOP;
    RETURN to_jsonb(true);
END $$;

CREATE OR REPLACE FUNCTION svc_auth.is_known_network(wanted text, place text) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    SELECT to_jsonb(EXISTS (SELECT FROM known_network WHERE account = wanted AND network = place AND until > now()))
$$;

-- An account has the latest eight, each of which has a count of attempts of its own.
CREATE OR REPLACE FUNCTION svc_auth.know_network(wanted text, place text, seconds double precision) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO known_network VALUES (wanted, place, now() + make_interval(secs => seconds))
        ON CONFLICT (account, network) DO UPDATE SET until = excluded.until;
    DELETE FROM known_network WHERE account = wanted AND network IN (
        SELECT network FROM known_network WHERE account = wanted ORDER BY until DESC, network OFFSET 8
    );
    RETURN to_jsonb(true);
END $$;

-- Tokens that are mailed.

CREATE OR REPLACE FUNCTION svc_auth.keep_mailed_token(
    wanted uuid, purpose text, mac text, email text, seconds double precision
) RETURNS jsonb
LANGUAGE sql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    INSERT INTO mailed_token VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5))
        ON CONFLICT (user_id, purpose) DO UPDATE
        SET mac = excluded.mac, email = excluded.email, expires_at = excluded.expires_at;
    SELECT to_jsonb(true)
$$;

-- The recipient of a token that holds, without using it up.
CREATE OR REPLACE FUNCTION svc_auth.mailed_token_recipient(wanted text, presented text) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    SELECT jsonb_build_object('user_id', user_id, 'email', email)
        FROM mailed_token WHERE mac = presented AND purpose = wanted AND expires_at > now()
$$;

CREATE OR REPLACE FUNCTION svc_auth.use_mailed_token(wanted text, presented text) RETURNS jsonb
LANGUAGE sql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    DELETE FROM mailed_token WHERE mac = presented AND purpose = wanted AND expires_at > now()
        RETURNING jsonb_build_object('user_id', user_id, 'email', email)
$$;

-- Uses a mailed token up, sets the password and ends all sessions, or does none of it. NULL without such a token.
CREATE OR REPLACE FUNCTION svc_auth.reset_password(wanted text, presented text, hash text) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
DECLARE owner uuid;
BEGIN
    SELECT user_id INTO owner FROM mailed_token
        WHERE mac = presented AND purpose = wanted AND expires_at > now();
    -- The deletion of an account also locks the password before the tokens.
    PERFORM FROM password WHERE user_id = owner FOR UPDATE;
    IF use_mailed_token(wanted, presented) IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN replace_password(owner, hash, NULL);
END $$;

-- Revocations.

CREATE OR REPLACE FUNCTION svc_auth.revoke_token(token text, seconds double precision) RETURNS jsonb
LANGUAGE sql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    INSERT INTO revoked_token VALUES (token, now() + make_interval(secs => seconds))
        ON CONFLICT (id) DO UPDATE SET until = greatest(revoked_token.until, excluded.until);
    SELECT to_jsonb(true)
$$;

CREATE OR REPLACE FUNCTION svc_auth.revoke_subject(
    whose text, cut_off double precision, seconds double precision
) RETURNS jsonb
LANGUAGE sql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    INSERT INTO revoked_subject VALUES (whose, $2, now() + make_interval(secs => seconds))
        ON CONFLICT (subject) DO UPDATE SET
            cut_off = greatest(revoked_subject.cut_off, excluded.cut_off),
            until = greatest(revoked_subject.until, excluded.until);
    SELECT to_jsonb(true)
$$;

-- Whether one of these tokens is revoked, and since when those of the subject are.
CREATE OR REPLACE FUNCTION svc_auth.revocation(tokens text[], whose text) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
    SELECT jsonb_build_object(
        'revoked', EXISTS (SELECT FROM revoked_token WHERE id = ANY (tokens)),
        'cut_off', (SELECT cut_off FROM revoked_subject WHERE subject = whose)
    )
$$;

-- Removes a bounded number of what counts no longer.
CREATE OR REPLACE FUNCTION svc_auth.remove_expired() RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM attempt WHERE key IN (
        SELECT key FROM attempt WHERE until < now() LIMIT 1000 FOR UPDATE SKIP LOCKED);
    DELETE FROM known_network WHERE (account, network) IN (
        SELECT account, network FROM known_network WHERE until < now() LIMIT 1000 FOR UPDATE SKIP LOCKED);
    DELETE FROM session WHERE id IN (
        SELECT id FROM session WHERE expires_at < now() LIMIT 1000 FOR UPDATE SKIP LOCKED);
    DELETE FROM mailed_token WHERE mac IN (
        SELECT mac FROM mailed_token WHERE expires_at < now() LIMIT 1000 FOR UPDATE SKIP LOCKED);
    DELETE FROM revoked_token WHERE id IN (
        SELECT id FROM revoked_token WHERE until < now() LIMIT 1000 FOR UPDATE SKIP LOCKED);
    DELETE FROM revoked_subject WHERE subject IN (
        SELECT subject FROM revoked_subject WHERE until < now() LIMIT 1000 FOR UPDATE SKIP LOCKED);
    RETURN to_jsonb(true);
END $$;

-- An account that is deleted, by whatever statement, leaves no session.
CREATE OR REPLACE FUNCTION svc_auth.account_is_gone() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = svc_auth, pg_catalog, pg_temp AS $$
BEGIN
    PERFORM end_sessions(OLD.user_id);
    DELETE FROM mailed_token WHERE user_id = OLD.user_id;
    -- The account gets no more tokens, so the cut-off may lie in the future: it covers tokens from a service whose
    -- clock is ahead. The five minutes are the longest leeway.
    PERFORM revoke_subject(OLD.user_id::text, extract(epoch FROM clock_timestamp())::double precision + 86400, 86700);
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER account_is_gone AFTER DELETE ON svc_auth.account
    FOR EACH ROW EXECUTE FUNCTION svc_auth.account_is_gone();

-- Lets a role use all of this, which is to call the functions.
CREATE OR REPLACE FUNCTION svc_auth.allow(role name) RETURNS void
LANGUAGE plpgsql SET search_path = svc_auth, pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA svc_auth TO %I', role);
    EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA svc_auth TO %I', role);
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA svc_auth FROM PUBLIC;
