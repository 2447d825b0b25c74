-- Views with a column for each field, and `data` beside them: the layout that svc reads at the least cost.
BEGIN;
CREATE OR REPLACE VIEW c_user AS
SELECT u.pk_user, u.id, u.identifier, u.name, u.email, u.bio, u.city, u.score, u.created_at, v.data
FROM tb_user u
CROSS JOIN LATERAL (
  SELECT jsonb_build_object('id', u.id, 'identifier', u.identifier, 'name', u.name, 'email', u.email,
                            'bio', u.bio, 'city', u.city, 'score', u.score, 'created_at', u.created_at) AS data
) v;

-- Scalar subqueries: PostgreSQL runs them only where they are selected, and only for the rows of the page.
CREATE OR REPLACE VIEW c_post AS
SELECT p.pk_post, p.fk_author, p.id, p.identifier, p.title, p.body, p.view_count, p.created_at,
       (SELECT a.data FROM v_user a WHERE a.pk_user = p.fk_author) AS author,
       (SELECT coalesce(jsonb_agg(f.data ORDER BY f.created_at), '[]')
        FROM (SELECT vc.data, vc.created_at FROM v_comment vc WHERE vc.fk_post = p.pk_post
              ORDER BY vc.created_at LIMIT 5) f) AS comments
FROM tb_post p;
COMMIT;
