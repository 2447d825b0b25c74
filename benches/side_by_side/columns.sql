-- Views with a column for each field, and `data` beside them: the layout that svc reads at the least cost.
BEGIN;
CREATE OR REPLACE VIEW c_user AS
SELECT pk_user, id, identifier, name, email, bio, city, score, created_at,
       jsonb_build_object('id', id, 'identifier', identifier, 'name', name, 'email', email,
                          'bio', bio, 'city', city, 'score', score, 'created_at', created_at) AS data
FROM tb_user;

CREATE OR REPLACE VIEW c_post AS
SELECT pk_post, fk_author, id, identifier, title, body, view_count, created_at FROM tb_post;

CREATE OR REPLACE VIEW c_comment AS
SELECT pk_comment, fk_post, fk_author, id, body, created_at FROM tb_comment;
COMMIT;
