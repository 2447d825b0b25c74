-- The read side (v_*) and the write side (functions), re-runnable.
BEGIN;
CREATE OR REPLACE VIEW v_user AS
SELECT u.pk_user, u.id, u.name, u.created_at,
       jsonb_build_object('id', u.id, 'identifier', u.identifier, 'name', u.name, 'email', u.email,
                          'bio', u.bio, 'city', u.city, 'score', u.score, 'created_at', u.created_at) AS data
FROM tb_user u;

CREATE OR REPLACE VIEW v_comment AS
SELECT c.pk_comment, c.fk_post, c.id, c.created_at,
       jsonb_build_object('id', c.id, 'body', c.body, 'created_at', c.created_at, 'author', a.data) AS data
FROM tb_comment c JOIN v_user a ON a.pk_user = c.fk_author;

CREATE OR REPLACE VIEW v_post AS
SELECT p.pk_post, p.fk_author, p.id, p.title, p.created_at,
       jsonb_build_object('id', p.id, 'identifier', p.identifier, 'title', p.title, 'body', p.body,
                          'view_count', p.view_count, 'created_at', p.created_at, 'author', a.data) AS data
FROM tb_post p JOIN v_user a ON a.pk_user = p.fk_author;

-- nested one-to-one (author) and the first five comments, each with its author
CREATE OR REPLACE VIEW v_post_with_comments AS
SELECT p.pk_post, p.fk_author, p.id, p.title, p.created_at,
       p.data || jsonb_build_object('comments', coalesce(c.list, '[]'::jsonb)) AS data
FROM v_post p
LEFT JOIN LATERAL (
  SELECT jsonb_agg(f.data ORDER BY f.created_at) AS list
  FROM (SELECT vc.data, vc.created_at FROM v_comment vc WHERE vc.fk_post = p.pk_post
        ORDER BY vc.created_at LIMIT 5) f
) c ON true;

-- The write: one function, answering with the new comment's `data`.
CREATE OR REPLACE FUNCTION fn_create_comment(p_post_id uuid, p_author_id uuid, p_body text)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE v_post bigint; v_author bigint; v_pk bigint; v_data jsonb;
BEGIN
  SELECT pk_post INTO v_post FROM tb_post WHERE id = p_post_id;
  IF v_post IS NULL THEN RAISE EXCEPTION 'post not found' USING ERRCODE = 'P0002'; END IF;
  SELECT pk_user INTO v_author FROM tb_user WHERE id = p_author_id;
  IF v_author IS NULL THEN RAISE EXCEPTION 'author not found' USING ERRCODE = 'P0002'; END IF;
  INSERT INTO tb_comment (fk_post, fk_author, body) VALUES (v_post, v_author, p_body) RETURNING pk_comment INTO v_pk;
  SELECT data INTO v_data FROM v_comment WHERE pk_comment = v_pk;
  RETURN v_data;
END $$;
COMMIT;
