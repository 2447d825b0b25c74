-- The read side. Columns are for filters and orders, and answer the fields of their names; `data` has the rest.

CREATE OR REPLACE VIEW v_user AS
SELECT u.pk_user, u.id, u.identifier, u.name, u.role, u.created_at,
       jsonb_build_object('id', u.id, 'identifier', u.identifier, 'name', u.name, 'email', u.email, 'role', u.role,
                          'bio', u.bio, 'created_at', u.created_at) AS data
FROM tb_user AS u;

-- `post_id` and `author_id` are the keys of relations; in `data` too, for comments that are embedded elsewhere.
CREATE OR REPLACE VIEW v_comment AS
SELECT c.pk_comment, c.fk_post, c.id, p.id AS post_id, c.created_at,
       jsonb_build_object('id', c.id, 'post_id', p.id, 'author_id', a.id, 'body', c.body,
                          'created_at', c.created_at) AS data,
       a.id AS author_id
FROM tb_comment AS c
JOIN tb_post AS p ON p.pk_post = c.fk_post
JOIN tb_user AS a ON a.pk_user = c.fk_author;

CREATE OR REPLACE VIEW v_post AS
SELECT p.pk_post, p.id, a.id AS author_id, a.identifier AS author_identifier, p.title, p.view_count, p.created_at,
       jsonb_build_object(
           'id', p.id, 'identifier', p.identifier, 'title', p.title, 'body', p.body, 'view_count', p.view_count,
           'created_at', p.created_at, 'author_id', a.id, 'draft', p.draft) AS data,
       p.draft
FROM tb_post AS p
JOIN tb_user AS a ON a.pk_user = p.fk_author;

-- For an interface: `__typename` says which type a row is of. The documents stand in subqueries, so that they are
-- made for the rows of a page, after the order and the limit. `draft` and `author_id` are for the policy of posts.
CREATE OR REPLACE VIEW v_entry AS
SELECT e."__typename", e.id, e.created_at,
       CASE e."__typename" WHEN 'Post' THEN (SELECT data FROM v_post WHERE pk_post = e.pk)
                           ELSE (SELECT data FROM v_comment WHERE pk_comment = e.pk) END AS data,
       e.draft, e.author_id
FROM (SELECT 'Post'::text AS "__typename", id, created_at, pk_post AS pk, draft, author_id FROM v_post
      UNION ALL
      SELECT 'Comment'::text, id, created_at, pk_comment, NULL, NULL FROM tb_comment) AS e;

-- For a union: a row for each word of a name or a title. `word` is no field; a resolver filters on it.
CREATE OR REPLACE VIEW v_search AS
SELECT s."__typename", s.id, w.word,
       CASE s."__typename" WHEN 'User' THEN (SELECT data FROM v_user WHERE pk_user = s.pk)
                           ELSE (SELECT data FROM v_post WHERE pk_post = s.pk) END AS data,
       s.draft, s.author_id
FROM (SELECT 'User'::text AS "__typename", id, name AS words, pk_user AS pk, NULL::boolean AS draft,
             NULL::uuid AS author_id FROM tb_user
      UNION ALL
      SELECT 'Post'::text, id, title, pk_post, draft, author_id FROM v_post) AS s,
     LATERAL (SELECT DISTINCT unnest(string_to_array(lower(s.words), ' ')) AS word) AS w;

-- Only `data`: filters and orders read it with a cast.
CREATE OR REPLACE VIEW v_month AS
SELECT jsonb_build_object('id', to_char(m.month, 'YYYY-MM'), 'first_day', m.month::date, 'posts', m.posts) AS data
FROM (SELECT date_trunc('month', created_at AT TIME ZONE 'UTC') AS month, count(*) AS posts
      FROM tb_post WHERE NOT draft GROUP BY 1) AS m;

-- Only columns, and one row.
CREATE OR REPLACE VIEW v_statistics AS
SELECT (SELECT count(*) FROM tb_user) AS users,
       (SELECT count(*) FROM tb_post WHERE NOT draft) AS posts,
       (SELECT count(*) FROM tb_comment) AS comments;
