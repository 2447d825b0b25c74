-- The functions of the mutations. Each returns a status, and the id of the row that it wrote.

CREATE OR REPLACE FUNCTION fn_create_post(input jsonb) RETURNS mutation_response LANGUAGE plpgsql AS $$
DECLARE
    response mutation_response;
    author bigint := (SELECT pk_user FROM tb_user WHERE id = (input->>'author_id')::uuid);
BEGIN
    IF author IS NULL THEN
        response.status := 'not_found:author';
        response.message := 'there is no such author';
        RETURN response;
    END IF;
    INSERT INTO tb_post (fk_author, title, body) VALUES (author, input->>'title', input->>'body')
    RETURNING id INTO response.entity_id;
    response.status := 'created';
    RETURN response;
END $$;

CREATE OR REPLACE FUNCTION fn_create_comment(input jsonb) RETURNS mutation_response LANGUAGE plpgsql AS $$
DECLARE
    response mutation_response;
BEGIN
    INSERT INTO tb_comment (fk_post, fk_author, body)
    SELECT pk_post, pk_user, input->>'body' FROM tb_post, tb_user
    WHERE tb_post.id = (input->>'post_id')::uuid AND tb_user.id = (input->>'author_id')::uuid
    RETURNING id INTO response.entity_id;
    response.status := CASE WHEN FOUND THEN 'created' ELSE 'not_found:post' END;
    response.message := CASE WHEN NOT FOUND THEN 'there is no such post or no such author' END;
    RETURN response;
END $$;
