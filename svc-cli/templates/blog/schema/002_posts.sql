-- Posts.

-- `author_id` is the key of a relation.
CREATE OR REPLACE VIEW v_post AS
SELECT p.pk_post, p.id, a.id AS author_id, p.title, p.created_at,
       jsonb_build_object('id', p.id, 'author_id', a.id, 'title', p.title, 'body', p.body,
                          'created_at', p.created_at) AS data
FROM tb_post AS p
JOIN tb_user AS a ON a.pk_user = p.fk_author;
