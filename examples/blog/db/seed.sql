-- 500 users, 2,000 posts, 6,000 comments; the same on every machine: md5 of the row number, no random().
DO $seed$
BEGIN
IF EXISTS (SELECT FROM tb_user) THEN
    RETURN;
END IF;

INSERT INTO tb_user (id, identifier, name, email, role, bio, created_at)
SELECT md5('user' || i)::uuid, 'user-' || i,
       (ARRAY['Ada','Bruno','Chloe','Dmitri','Elena','Farid','Grace','Hugo',
              'Ines','Jonas','Kira','Luc','Mina','Nils','Olga','Pavel'])[1 + ('x' || substr(md5('f' || i), 1, 4))::bit(16)::int % 16]
         || ' ' || initcap(substr(md5('l' || i), 1, 8)),
       'user' || i || '@example.org',
       CASE WHEN i % 100 = 1 THEN 'admin' WHEN i % 25 = 2 THEN 'editor' WHEN i % 2 = 0 THEN 'author' ELSE 'reader' END,
       CASE WHEN i % 3 > 0 THEN 'Bio of user ' || i || ': ' || md5('b1' || i) || ' ' || md5('b2' || i) END,
       timestamptz '2023-01-01 00:00:00+00' + i * interval '31 minutes'
FROM generate_series(1, 500) AS i ORDER BY i;

INSERT INTO tb_post (id, identifier, fk_author, title, body, view_count, created_at)
SELECT md5('post' || i)::uuid, 'post-' || i, author.pk_user,
       w[1 + ('x' || substr(md5('t1' || i), 1, 4))::bit(16)::int % 40] || ' ' ||
       w[1 + ('x' || substr(md5('t2' || i), 1, 4))::bit(16)::int % 40] || ' ' ||
       w[1 + ('x' || substr(md5('t3' || i), 1, 4))::bit(16)::int % 40] || ' ' || i,
       repeat(md5('p1' || i) || ' ' || md5('p2' || i) || '. ', 6),
       ('x' || substr(md5('v' || i), 1, 4))::bit(16)::int % 10000,
       timestamptz '2024-01-01 00:00:00+00' + ((i * 7919) % 2000) * interval '4 hours'
FROM generate_series(1, 2000) AS i
JOIN tb_user AS author ON author.identifier = 'user-' || (1 + ('x' || substr(md5('a' || i), 1, 6))::bit(24)::int % 500)
CROSS JOIN (SELECT ARRAY['amber','basalt','cobalt','delta','ember','fjord','garnet','harbor','indigo','jasper',
                         'kelp','lagoon','maple','nectar','onyx','pepper','quartz','raven','saffron','tundra',
                         'umber','velvet','willow','xenon','yarrow','zephyr','anchor','beacon','copper','dune',
                         'echo','falcon','glacier','hazel','island','jungle','kernel','lantern','meadow','nimbus'] AS w) AS words
ORDER BY i;

INSERT INTO tb_comment (id, identifier, fk_post, fk_author, body, created_at)
SELECT md5('comment' || i)::uuid, 'comment-' || i, post.pk_post, author.pk_user,
       'Comment ' || i || ' ' || md5('cb1' || i) || ' ' || md5('cb2' || i),
       timestamptz '2025-01-01 00:00:00+00' + i * interval '10 minutes'
FROM generate_series(1, 6000) AS i
JOIN tb_post AS post ON post.identifier = 'post-' || (1 + ('x' || substr(md5('cp' || i), 1, 6))::bit(24)::int % 2000)
JOIN tb_user AS author ON author.identifier = 'user-' || (1 + ('x' || substr(md5('ca' || i), 1, 6))::bit(24)::int % 500)
ORDER BY i;

-- The planner needs figures before the projection reads through the views.
ANALYZE tb_user, tb_post, tb_comment;
INSERT INTO tv_post SELECT id, created_at, comment_count, data FROM v_feed ORDER BY created_at;
ANALYZE tv_post;
END
$seed$;
