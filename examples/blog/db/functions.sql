-- The write side as functions. Each answers with a status, and with the id or the JSON of what it wrote.

DO $type$
BEGIN
    IF to_regtype('mutation_response') IS NULL THEN
        CREATE TYPE mutation_response AS (
            status text, message text, entity_id text, entity_type text, entity jsonb,
            updated_fields text[], cascade jsonb, metadata jsonb
        );
    END IF;
END
$type$;

-- It gives the id only: svc reads the post from its view, as far as the client asks for it.
CREATE OR REPLACE FUNCTION fn_create_post(input jsonb) RETURNS mutation_response LANGUAGE plpgsql AS $$
DECLARE
    response mutation_response;
    author bigint := (SELECT pk_user FROM tb_user WHERE id = (input->>'author')::uuid);
BEGIN
    IF author IS NULL THEN
        response.status := 'not_found:author';
        response.message := 'there is no such author';
        RETURN response;
    END IF;
    INSERT INTO tb_post (identifier, fk_author, title, body, draft)
    VALUES (coalesce(input->>'slug', 'post-' || gen_random_uuid()), author, input->>'title', input->>'body',
            coalesce((input->>'draft')::boolean, false))
    RETURNING id INTO response.entity_id;
    PERFORM refresh_tv_post(response.entity_id::uuid);
    response.status := 'created';
    RETURN response;
END $$;

-- A key that is absent leaves its column. Nothing of a post can be cleared.
CREATE OR REPLACE FUNCTION fn_update_post(post uuid, patch jsonb) RETURNS mutation_response LANGUAGE plpgsql AS $$
DECLARE
    response mutation_response;
    before tb_post := (SELECT p FROM tb_post AS p WHERE id = post FOR UPDATE);
BEGIN
    IF before.id IS NULL THEN
        response.status := 'not_found:post';
        response.message := 'there is no such post';
        RETURN response;
    END IF;
    response.entity_id := post;
    IF patch @> '{"title": null}' OR patch @> '{"body": null}' OR patch @> '{"draft": null}' THEN
        response.status := 'validation:cleared';
        response.message := 'a post has a title and a body';
        RETURN response;
    END IF;
    response.updated_fields := ARRAY(
        SELECT key FROM jsonb_each_text(patch) WHERE value IS DISTINCT FROM to_jsonb(before)->>key ORDER BY key);
    IF response.updated_fields = '{}' THEN
        response.status := 'noop:unchanged';
        response.message := 'the post is like that already';
        RETURN response;
    END IF;
    UPDATE tb_post SET title = coalesce(patch->>'title', title), body = coalesce(patch->>'body', body),
        draft = coalesce((patch->>'draft')::boolean, draft) WHERE id = post;
    PERFORM refresh_tv_post(post);
    response.status := 'updated';
    RETURN response;
END $$;

CREATE OR REPLACE FUNCTION fn_delete_post(post uuid) RETURNS mutation_response LANGUAGE plpgsql AS $$
DECLARE
    response mutation_response;
BEGIN
    DELETE FROM tb_comment WHERE fk_post = (SELECT pk_post FROM tb_post WHERE id = post);
    DELETE FROM tv_post WHERE id = post;
    DELETE FROM tb_post WHERE id = post RETURNING id INTO response.entity_id;
    response.status := CASE WHEN FOUND THEN 'deleted' ELSE 'not_found:post' END;
    response.message := CASE WHEN NOT FOUND THEN 'there is no such post' END;
    RETURN response;
END $$;
