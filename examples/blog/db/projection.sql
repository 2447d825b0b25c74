-- A projection: what the feed shows, stored ready to read, with the newest comment embedded. Whoever writes a post or a
-- comment refreshes its row. Drafts have none.

CREATE TABLE IF NOT EXISTS tv_post (
    id             uuid PRIMARY KEY,
    created_at     timestamptz NOT NULL,
    comment_count  integer NOT NULL,
    data           jsonb NOT NULL
);
CREATE INDEX IF NOT EXISTS tv_post_created_at_id ON tv_post (created_at, id);
CREATE INDEX IF NOT EXISTS tv_post_comment_count ON tv_post (comment_count);

-- The rows as they should be.
CREATE OR REPLACE VIEW v_feed AS
SELECT p.id, p.created_at, c.count::integer AS comment_count,
       jsonb_build_object(
           'id', p.id, 'identifier', p.identifier, 'title', p.title, 'created_at', p.created_at, 'author_id', a.id,
           'comment_count', c.count, 'last_comment', l.data) AS data
FROM tb_post AS p
JOIN v_user AS a ON a.pk_user = p.fk_author
CROSS JOIN LATERAL (SELECT count(*) FROM tb_comment WHERE fk_post = p.pk_post) AS c
LEFT JOIN LATERAL (SELECT data FROM v_comment WHERE fk_post = p.pk_post ORDER BY created_at DESC, id DESC LIMIT 1) AS l ON true
WHERE NOT p.draft;

-- Brings one row up to date.
CREATE OR REPLACE FUNCTION refresh_tv_post(post uuid) RETURNS void LANGUAGE sql AS $$
    DELETE FROM tv_post WHERE id = post AND NOT EXISTS (SELECT FROM v_feed WHERE id = post);
    INSERT INTO tv_post SELECT id, created_at, comment_count, data FROM v_feed WHERE id = post
    ON CONFLICT (id) DO UPDATE SET comment_count = excluded.comment_count, data = excluded.data;
$$;

-- Rows of before the author was a relation.
SELECT refresh_tv_post(id) FROM tv_post WHERE NOT data ? 'author_id';
