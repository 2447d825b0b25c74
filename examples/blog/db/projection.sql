-- A projection: what the feed shows, stored ready to read. Whoever writes a post or a comment refreshes its row.

CREATE TABLE IF NOT EXISTS tv_post (
    id             uuid PRIMARY KEY,
    created_at     timestamptz NOT NULL,
    comment_count  integer NOT NULL,
    data           jsonb NOT NULL
);
CREATE INDEX IF NOT EXISTS tv_post_created_at ON tv_post (created_at);
CREATE INDEX IF NOT EXISTS tv_post_comment_count ON tv_post (comment_count);

-- The rows as they should be.
CREATE OR REPLACE VIEW v_feed AS
SELECT p.id, p.created_at, jsonb_array_length(p.data -> 'comments') AS comment_count,
       jsonb_build_object(
           'id', p.data -> 'id', 'identifier', p.data -> 'identifier', 'title', p.data -> 'title',
           'created_at', p.data -> 'created_at', 'author', p.data -> 'author',
           'comment_count', jsonb_array_length(p.data -> 'comments'),
           'last_comment', p.data -> 'comments' -> -1) AS data
FROM v_post AS p;

-- Brings one row up to date.
CREATE OR REPLACE FUNCTION refresh_tv_post(post uuid) RETURNS void LANGUAGE sql AS $$
    INSERT INTO tv_post SELECT id, created_at, comment_count, data FROM v_feed WHERE id = post
    ON CONFLICT (id) DO UPDATE SET comment_count = excluded.comment_count, data = excluded.data;
$$;
