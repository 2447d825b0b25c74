-- Comments.

CREATE TABLE IF NOT EXISTS tb_comment (
    pk_comment  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    fk_post     bigint NOT NULL REFERENCES tb_post,
    fk_author   bigint NOT NULL REFERENCES tb_user,
    body        text NOT NULL CHECK (body <> ''),
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS tb_comment_fk_post ON tb_comment (fk_post, created_at);
CREATE INDEX IF NOT EXISTS tb_comment_fk_author ON tb_comment (fk_author);

CREATE OR REPLACE VIEW v_comment AS
SELECT c.pk_comment, c.id, p.id AS post_id, a.id AS author_id, c.created_at,
       jsonb_build_object('id', c.id, 'post_id', p.id, 'author_id', a.id, 'body', c.body,
                          'created_at', c.created_at) AS data
FROM tb_comment AS c
JOIN tb_post AS p ON p.pk_post = c.fk_post
JOIN tb_user AS a ON a.pk_user = c.fk_author;
