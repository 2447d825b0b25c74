-- $1 is $slug, $2 is $posts. The keys are those of `data`, and `posts` stands under its key in the answer.
SELECT jsonb_build_object(
           'name', u.name, 'role', u.role, 'bio', u.bio,
           'posts', (SELECT coalesce(jsonb_agg(p), '[]')
                     FROM (SELECT identifier, title, created_at FROM tb_post
                           WHERE fk_author = u.pk_user ORDER BY created_at DESC, id DESC LIMIT $2) AS p)
       ) AS author
FROM tb_user AS u
WHERE u.identifier = $1;
