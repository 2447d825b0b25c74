-- Posts.

CREATE TABLE IF NOT EXISTS tb_post (
    pk_post     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    fk_author   bigint NOT NULL REFERENCES tb_user,
    title       text NOT NULL CHECK (title <> ''),
    body        text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS tb_post_created_at ON tb_post (created_at, id);
CREATE INDEX IF NOT EXISTS tb_post_fk_author ON tb_post (fk_author);

-- `author_id` is the key of a relation.
CREATE OR REPLACE VIEW v_post AS
SELECT p.pk_post, p.id, a.id AS author_id, p.title, p.created_at,
       jsonb_build_object('id', p.id, 'author_id', a.id, 'title', p.title, 'body', p.body,
                          'created_at', p.created_at) AS data
FROM tb_post AS p
JOIN tb_user AS a ON a.pk_user = p.fk_author;
