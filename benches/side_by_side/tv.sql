-- Projection tables (the "tv_" layout): the JSON materialised, the filter and sort columns beside it.
-- They price the layout; the mutation does not keep them up to date.
BEGIN;
DROP TABLE IF EXISTS tv_user, tv_post, tv_post_with_comments;
CREATE TABLE tv_user AS SELECT pk_user, id, name, created_at, data FROM v_user ORDER BY pk_user;
ALTER TABLE tv_user ADD PRIMARY KEY (id);
CREATE INDEX ON tv_user (name);
CREATE TABLE tv_post AS SELECT pk_post, id, title, created_at, data FROM v_post ORDER BY pk_post;
ALTER TABLE tv_post ADD PRIMARY KEY (id);
CREATE INDEX ON tv_post (created_at);
CREATE TABLE tv_post_with_comments AS SELECT pk_post, id, title, created_at, data FROM v_post_with_comments ORDER BY pk_post;
ALTER TABLE tv_post_with_comments ADD PRIMARY KEY (id);
CREATE INDEX ON tv_post_with_comments (created_at);

-- The same with `data` as `json`: PostgreSQL sends the text as it lies, where it has to write `jsonb` out.
DROP TABLE IF EXISTS tj_user, tj_post, tj_post_with_comments;
CREATE TABLE tj_user AS SELECT pk_user, id, name, created_at, data::text::json AS data FROM tv_user ORDER BY pk_user;
ALTER TABLE tj_user ADD PRIMARY KEY (id);
CREATE INDEX ON tj_user (name);
CREATE TABLE tj_post AS SELECT pk_post, id, title, created_at, data::text::json AS data FROM tv_post ORDER BY pk_post;
ALTER TABLE tj_post ADD PRIMARY KEY (id);
CREATE INDEX ON tj_post (created_at);
CREATE TABLE tj_post_with_comments AS SELECT pk_post, id, title, created_at, data::text::json AS data FROM tv_post_with_comments ORDER BY pk_post;
ALTER TABLE tj_post_with_comments ADD PRIMARY KEY (id);
CREATE INDEX ON tj_post_with_comments (created_at);
COMMIT;
VACUUM ANALYZE tv_user; VACUUM ANALYZE tv_post; VACUUM ANALYZE tv_post_with_comments;
VACUUM ANALYZE tj_user; VACUUM ANALYZE tj_post; VACUUM ANALYZE tj_post_with_comments;
