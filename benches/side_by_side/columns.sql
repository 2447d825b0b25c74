-- Views with a column for each field, and `data` beside them: the layout that svc reads at the least cost.
BEGIN;
CREATE OR REPLACE VIEW c_user AS
SELECT u.pk_user, u.id, u.identifier, u.name, u.email, u.bio, u.city, u.score, u.created_at, v.data
FROM tb_user u
CROSS JOIN LATERAL (
  SELECT jsonb_build_object('id', u.id, 'identifier', u.identifier, 'name', u.name, 'email', u.email,
                            'bio', u.bio, 'city', u.city, 'score', u.score, 'created_at', u.created_at) AS data
) v;

CREATE OR REPLACE VIEW c_post AS
SELECT pk_post, fk_author, id, identifier, title, body, view_count, created_at FROM tb_post;

CREATE OR REPLACE VIEW c_comment AS
SELECT pk_comment, fk_post, fk_author, id, body, created_at FROM tb_comment;
COMMIT;
