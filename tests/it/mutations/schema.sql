CREATE SCHEMA app;

-- What most functions answer with; the order of the columns does not matter.
CREATE TYPE app.mutation_response AS (
    message text, status text, entity jsonb, entity_id uuid, entity_type text,
    updated_fields text[], cascade jsonb, metadata jsonb
);

CREATE TABLE tb_user (
    pk_user    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id         uuid NOT NULL DEFAULT gen_random_uuid(),
    email      text NOT NULL CONSTRAINT tb_user_email_key UNIQUE,
    full_name  text NOT NULL,
    bio        text,
    role       text NOT NULL DEFAULT 'member',
    age        integer CONSTRAINT tb_user_age_check CHECK (age > 0),
    secret     text CONSTRAINT tb_user_secret_check CHECK (secret <> 'leak'),
    home       jsonb NOT NULL DEFAULT '{"first_line": "1 High Street", "tags": []}'
);

CREATE VIEW v_user AS
SELECT id, email, full_name, bio, role, jsonb_build_object('home', home, 'email', email) AS data FROM tb_user;

-- The entity itself is not given: svc reads it from the view.
CREATE FUNCTION app.create_user(input jsonb) RETURNS app.mutation_response LANGUAGE plpgsql AS $$
DECLARE
    made uuid;
    response app.mutation_response;
BEGIN
    INSERT INTO tb_user (email, full_name, bio, role, age, secret, home)
    VALUES (input->>'email', input->>'full_name', input->>'bio', coalesce(input->>'role', 'member'),
            (input->>'age')::integer, input->>'secret', coalesce(input->'home', '{"first_line": "none", "tags": []}'))
    RETURNING id INTO made;
    response.status := 'created';
    response.message := 'welcome';
    response.entity_id := made;
    RETURN response;
END $$;

CREATE FUNCTION app.create_user_profile(email text, bio text DEFAULT 'nothing yet') RETURNS text LANGUAGE sql AS $$
    UPDATE tb_user SET bio = create_user_profile.bio WHERE tb_user.email = create_user_profile.email RETURNING bio
$$;

-- Absent leaves a column, null clears it.
CREATE FUNCTION app.update_user(user_email text, patch jsonb) RETURNS app.mutation_response LANGUAGE plpgsql AS $$
DECLARE
    response app.mutation_response;
    changed tb_user;
BEGIN
    UPDATE tb_user SET
        full_name = CASE WHEN patch ? 'full_name' THEN patch->>'full_name' ELSE full_name END,
        bio = CASE WHEN patch ? 'bio' THEN patch->>'bio' ELSE bio END
    WHERE email = user_email RETURNING * INTO changed;
    IF NOT FOUND THEN
        response.status := 'not_found:user';
        response.message := 'there is no such user';
        RETURN response;
    END IF;
    response.status := 'updated';
    response.entity := to_jsonb(changed);
    response.updated_fields := ARRAY(SELECT jsonb_object_keys(patch) ORDER BY 1);
    RETURN response;
END $$;

CREATE FUNCTION app.delete_user(user_email text) RETURNS app.mutation_response LANGUAGE plpgsql AS $$
DECLARE
    response app.mutation_response;
BEGIN
    DELETE FROM tb_user WHERE email = user_email RETURNING id INTO response.entity_id;
    response.status := CASE WHEN FOUND THEN 'deleted' ELSE 'noop:absent' END;
    RETURN response;
END $$;

-- Gives back what it is given.
CREATE FUNCTION app.answer(answer jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT answer';

CREATE FUNCTION app.fail(how text) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    CASE how
        WHEN 'raise' THEN RAISE EXCEPTION 'the shop is closed' USING HINT = 'come back at nine', DETAIL = 'row 7 of tb_secret';
        WHEN 'divide' THEN RETURN to_jsonb(1 / 0);
        WHEN 'check' THEN INSERT INTO tb_user (email, full_name, age) VALUES ('x', 'x', -1);
        WHEN 'secret' THEN INSERT INTO tb_user (email, full_name, secret) VALUES ('x', 'x', 'leak');
        WHEN 'null' THEN RETURN NULL;
    END CASE;
    RETURN NULL;
END $$;

-- Plain answers.
CREATE FUNCTION app.user_json(email text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT to_jsonb(u) FROM tb_user AS u WHERE u.email = user_json.email
$$;
CREATE FUNCTION app.user_row(text) RETURNS tb_user LANGUAGE sql AS $$ SELECT u FROM tb_user AS u WHERE email = $1 $$;
CREATE FUNCTION app.user_rows() RETURNS SETOF tb_user LANGUAGE sql AS 'SELECT u FROM tb_user AS u ORDER BY email';
CREATE FUNCTION app.add(a integer, b integer DEFAULT 10, c integer DEFAULT 100) RETURNS integer LANGUAGE sql
    AS 'SELECT a + b + c';
CREATE FUNCTION app.typed(
    id uuid, at timestamptz, numbers integer[], words text[], role text, price numeric, flag boolean, anything jsonb
) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_array(pg_typeof(id)::text, at AT TIME ZONE 'UTC', numbers, words, role, price, flag, anything)
$$;
CREATE FUNCTION app.with_context(tenant uuid, who text, word text) RETURNS text LANGUAGE sql
    AS $$ SELECT concat_ws(' ', tenant, who, word) $$;
CREATE FUNCTION app.overloaded(integer) RETURNS text LANGUAGE sql AS $$ SELECT 'one' $$;
CREATE FUNCTION app.overloaded(integer, integer) RETURNS text LANGUAGE sql AS $$ SELECT 'two' $$;
CREATE FUNCTION app.counted() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM tb_user';
