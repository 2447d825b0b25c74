-- Comments.

CREATE OR REPLACE VIEW v_comment AS
SELECT c.pk_comment, c.id, p.id AS post_id, a.id AS author_id, c.created_at,
       jsonb_build_object('id', c.id, 'post_id', p.id, 'author_id', a.id, 'body', c.body,
                          'created_at', c.created_at) AS data
FROM tb_comment AS c
JOIN tb_post AS p ON p.pk_post = c.fk_post
JOIN tb_user AS a ON a.pk_user = c.fk_author;
