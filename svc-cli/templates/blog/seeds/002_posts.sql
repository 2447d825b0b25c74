-- A first post with a comment, unless there are posts.

WITH post AS (
    INSERT INTO tb_post (fk_author, title, body)
    SELECT pk_user, 'Notes on the Analytical Engine', 'It weaves algebraical patterns.'
    FROM tb_user WHERE email = 'ada@example.org' AND NOT EXISTS (SELECT FROM tb_post)
    RETURNING pk_post
)
INSERT INTO tb_comment (fk_post, fk_author, body)
SELECT pk_post, pk_user, 'It can do whatever we know how to order it to perform.'
FROM post, tb_user WHERE email = 'grace@example.org';
