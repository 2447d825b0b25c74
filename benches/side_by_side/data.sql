-- Views with the columns that filters, orders and relations need, and the rest in `data`; without joins, as svc reads
-- an author where one is selected. Users have such a view in views.sql.
BEGIN;
CREATE OR REPLACE VIEW d_post AS
SELECT pk_post, fk_author, id, title, created_at,
       jsonb_build_object('identifier', identifier, 'body', body, 'view_count', view_count) AS data
FROM tb_post;

CREATE OR REPLACE VIEW d_comment AS
SELECT pk_comment, fk_post, fk_author, id, created_at, jsonb_build_object('body', body) AS data
FROM tb_comment;
COMMIT;
