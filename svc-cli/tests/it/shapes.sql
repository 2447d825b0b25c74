-- Shapes of views. A column that begins with `n_` is provably never null; each that begins with `o_` is null in a row. What
-- begins with `u_` cannot be null, and nobody can see that from here; of others it depends on the version.

CREATE TABLE IF NOT EXISTS tb_author (
    pk_author  int PRIMARY KEY,
    id         uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    name       text NOT NULL,
    nick       text,
    born       date CHECK (born IS NOT NULL AND born < '2100-01-01')
);
CREATE TABLE IF NOT EXISTS tb_book (
    pk_book    int PRIMARY KEY,
    fk_author  int NOT NULL REFERENCES tb_author,
    fk_editor  int REFERENCES tb_author,
    fk_series  int NOT NULL,
    title      text NOT NULL,
    subtitle   text,
    price      numeric(8, 2) NOT NULL,
    printed    timestamptz NOT NULL,
    tags       text[] NOT NULL,
    meta       jsonb NOT NULL
);
CREATE TABLE IF NOT EXISTS tb_guarded (pk int PRIMARY KEY, name text NOT NULL);
ALTER TABLE tb_guarded ENABLE ROW LEVEL SECURITY;
ALTER TABLE tb_guarded FORCE ROW LEVEL SECURITY;
CREATE TABLE IF NOT EXISTS tb_ticket (pk int PRIMARY KEY, fk_guarded int NOT NULL REFERENCES tb_guarded);
CREATE TABLE IF NOT EXISTS tb_parent (pk int NOT NULL, name text NOT NULL);
CREATE TABLE IF NOT EXISTS tb_child () INHERITS (tb_parent);
-- Newer versions do not let a child allow what its parent does not.
DO $$ BEGIN ALTER TABLE tb_child ALTER COLUMN name DROP NOT NULL; EXCEPTION WHEN others THEN NULL; END $$;
CREATE TABLE IF NOT EXISTS tb_part (pk int NOT NULL, name text NOT NULL) PARTITION BY RANGE (pk);
CREATE TABLE IF NOT EXISTS tb_part_1 PARTITION OF tb_part DEFAULT;
DO $$ BEGIN CREATE DOMAIN filled AS text NOT NULL; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
CREATE TABLE IF NOT EXISTS tb_domain (pk int PRIMARY KEY, word filled);
CREATE OR REPLACE FUNCTION maybe(x int) RETURNS int LANGUAGE plpgsql STRICT AS $$ BEGIN RETURN nullif(x, 1); END $$;

INSERT INTO tb_author (pk_author, name, nick, born) VALUES (1, 'Ada', 'a', '1815-12-10'), (2, 'Bo', NULL, '1900-01-01')
ON CONFLICT DO NOTHING;
INSERT INTO tb_book VALUES
    (1, 1, 2, 7, 'One', NULL, 1, '2020-01-01', '{a,NULL}', '{"a": 1}'),
    (2, 1, NULL, 8, 'Two', 'sub', 2, 'infinity', '{}', '{}')
ON CONFLICT DO NOTHING;
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM tb_ticket) THEN
        ALTER TABLE tb_guarded NO FORCE ROW LEVEL SECURITY;
        INSERT INTO tb_guarded VALUES (1, 'hidden');
        INSERT INTO tb_ticket VALUES (1, 1);
        ALTER TABLE tb_guarded FORCE ROW LEVEL SECURITY;
        INSERT INTO tb_part VALUES (1, 'x');
        INSERT INTO tb_domain VALUES (1, (SELECT word FROM tb_domain WHERE false));
    END IF;
END $$;

DO $$ BEGIN INSERT INTO tb_child VALUES (1, NULL); EXCEPTION WHEN not_null_violation THEN NULL; END $$;

-- Columns of tables.
CREATE OR REPLACE VIEW s01 AS SELECT pk_author AS n_pk, name AS n_name, nick AS o_nick, born AS n_born FROM tb_author;
CREATE OR REPLACE VIEW s02 AS SELECT n_name, o_nick FROM s01;
CREATE OR REPLACE VIEW s03 AS SELECT pk AS n_pk, name AS x_name FROM tb_parent;
CREATE OR REPLACE VIEW s04 AS SELECT pk AS n_pk, name AS n_name FROM tb_part;
CREATE OR REPLACE VIEW s05 AS SELECT pk AS n_pk, word AS o_word FROM tb_domain;
-- Conditions.
CREATE OR REPLACE VIEW s06 AS SELECT nick AS n_nick FROM tb_author WHERE nick IS NOT NULL;
CREATE OR REPLACE VIEW s07 AS SELECT nick AS n_nick, name AS n_name FROM tb_author WHERE lower(nick) = 'a';
CREATE OR REPLACE VIEW s08 AS SELECT nick AS o_nick FROM tb_author WHERE nick = 'a' OR name = 'Bo';
CREATE OR REPLACE VIEW s09 AS SELECT nick AS n_nick FROM tb_author WHERE nick IN ('a', 'b') OR nick LIKE 'x%';
CREATE OR REPLACE VIEW s10 AS SELECT nick AS n_nick FROM tb_author WHERE NOT (nick IS NULL) AND pk_author > 0;
CREATE OR REPLACE VIEW s11 AS SELECT nick AS o_nick FROM tb_author WHERE nick IS DISTINCT FROM 'a';
CREATE OR REPLACE VIEW s12 AS SELECT nick AS o_nick FROM tb_author WHERE nick <> ALL (ARRAY[]::text[]);
-- Joins.
CREATE OR REPLACE VIEW s13 AS
SELECT b.title AS n_title, a.name AS n_author, a.nick AS n_nick
FROM tb_book b JOIN tb_author a ON a.pk_author = b.fk_author AND a.nick = 'a';
CREATE OR REPLACE VIEW s14 AS
SELECT b.title AS n_title, e.name AS o_editor FROM tb_book b LEFT JOIN tb_author e ON e.pk_author = b.fk_editor;
CREATE OR REPLACE VIEW s15 AS
SELECT b.title AS n_title, a.name AS n_author FROM tb_book b LEFT JOIN tb_author a ON a.pk_author = b.fk_author;
CREATE OR REPLACE VIEW s16 AS
SELECT b.title AS n_title, a.name AS o_author
FROM tb_book b LEFT JOIN tb_author a ON a.pk_author = b.fk_author AND a.name = 'Bo';
CREATE OR REPLACE VIEW s17 AS
SELECT b.title AS n_title, e.name AS n_editor, e.nick AS o_nick
FROM tb_book b LEFT JOIN tb_author e ON e.pk_author = b.fk_editor WHERE e.pk_author > 0;
CREATE OR REPLACE VIEW s18 AS
SELECT b.title AS o_title, a.name AS n_author FROM tb_book b RIGHT JOIN tb_author a ON a.pk_author = b.fk_author;
CREATE OR REPLACE VIEW s19 AS
SELECT pk AS n_pk, x.name AS o_left, y.name AS o_right
FROM (VALUES (1, 'x'), (2, 'y')) AS x (pk, name) FULL JOIN (VALUES (2, 'z'), (3, 'u')) AS y (pk, name) USING (pk);
CREATE OR REPLACE VIEW s20 AS
SELECT a.name AS n_name, e.title AS o_title, e.editor AS o_editor
FROM tb_author a LEFT JOIN (SELECT b.fk_editor, b.title, x.name AS editor
    FROM tb_book b JOIN tb_author x ON x.pk_author = b.fk_editor) e ON e.fk_editor = a.pk_author;
CREATE OR REPLACE VIEW s21 AS
SELECT t.pk AS n_pk, g.name AS o_name FROM tb_ticket t LEFT JOIN tb_guarded g ON g.pk = t.fk_guarded;
CREATE OR REPLACE VIEW s22 AS
SELECT b.title AS n_title, s.name AS o_series
FROM tb_book b LEFT JOIN (VALUES (7, 'seven')) AS s (pk, name) ON s.pk = b.fk_series;
CREATE OR REPLACE VIEW s23 AS
SELECT a.name AS n_name, c.books AS n_books, c.dearest AS o_dearest
FROM tb_author a LEFT JOIN LATERAL (
    SELECT count(*) AS books, max(price) AS dearest FROM tb_book b WHERE b.fk_author = a.pk_author) c ON true;
CREATE OR REPLACE VIEW s24 AS
SELECT a.name AS n_name, (j).title AS o_title
FROM tb_author a LEFT JOIN tb_book j ON j.fk_author = a.pk_author;
CREATE OR REPLACE VIEW s25 AS
SELECT b.title AS n_title, a.name AS n_author, e.name AS o_editor
FROM (tb_book b LEFT JOIN tb_author a ON b.fk_author = a.pk_author) LEFT JOIN tb_author e ON e.pk_author = b.fk_editor;
-- Expressions.
CREATE OR REPLACE VIEW s26 AS
SELECT coalesce(nick, name) AS n_nick, coalesce(nick, NULL) AS o_nick, greatest(nick, name) AS n_greatest FROM tb_author;
CREATE OR REPLACE VIEW s27 AS
SELECT lower(name) || '!' AS n_loud, name || nick AS o_both, concat(name, nick) AS n_both, length(nick) AS o_length
FROM tb_author;
CREATE OR REPLACE VIEW s28 AS
SELECT CASE WHEN nick IS NULL THEN name ELSE 'x' END AS n_name, CASE WHEN nick IS NULL THEN name END AS o_name,
       CASE WHEN nick IS NOT NULL THEN nick ELSE '' END AS n_nick, CASE name WHEN 'Ada' THEN nick ELSE nick END AS o_nick
FROM tb_author;
CREATE OR REPLACE VIEW s29 AS
SELECT price * 2 AS n_double, price::text AS n_text, pk_book::bigint AS n_big, nullif(price, 1) AS o_price,
       maybe(pk_book) AS o_maybe, price > 1 AS n_dear, (price > 0) AND subtitle = 'sub' AS o_and FROM tb_book;
CREATE OR REPLACE VIEW s30 AS
SELECT meta -> 'a' AS o_a, meta ->> 'a' AS o_text, tags[1] AS o_tag, array_length(tags, 1) AS o_length,
       cardinality(tags) AS n_count, meta || '{}' AS n_meta, jsonb_typeof(meta) AS n_type FROM tb_book;
CREATE OR REPLACE VIEW s31 AS
SELECT to_char(printed, 'YYYY') AS o_year, date_trunc('day', printed) AS n_day, extract(hour FROM printed) AS o_hour,
       printed::time AS o_time, printed::date AS n_date FROM tb_book;
CREATE OR REPLACE VIEW s32 AS
SELECT now() AS n_now, current_date AS n_today, 'x' AS n_text, NULL::text AS o_null, nick IS NULL AS n_is_null,
       nick IS DISTINCT FROM 'a' AS n_differs, ARRAY[nick] AS n_list, upper(int4range(1, NULL)) AS o_upper
FROM tb_author;
-- Groups.
CREATE OR REPLACE VIEW s33 AS
SELECT fk_author AS n_author, count(*) AS n_count, max(price) AS n_max, max(subtitle) FILTER (WHERE pk_book < 2) AS o_max,
       sum(price) AS n_sum, stddev(price) FILTER (WHERE pk_book < 2) AS o_stddev, array_agg(subtitle) AS n_subtitles
FROM tb_book GROUP BY fk_author;
CREATE OR REPLACE VIEW s34 AS
SELECT count(*) AS n_count, max(price) AS o_max, jsonb_agg(title) AS o_titles, coalesce(sum(price), 0) AS n_sum
FROM tb_book WHERE pk_book > 99;
CREATE OR REPLACE VIEW s35 AS
SELECT fk_author AS o_author, title AS o_title, count(*) AS n_count FROM tb_book GROUP BY ROLLUP (fk_author, title);
CREATE OR REPLACE VIEW s36 AS
SELECT row_number() OVER (ORDER BY pk_book) AS n_row, lag(title) OVER (ORDER BY pk_book) AS o_before,
       lag(title, 1, '') OVER (ORDER BY pk_book) AS n_before, sum(price) OVER (ORDER BY pk_book) AS n_sum,
       sum(price) OVER (ORDER BY pk_book ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS o_sum FROM tb_book;
-- Subqueries.
CREATE OR REPLACE VIEW s37 AS
SELECT (SELECT a.name FROM tb_author a WHERE a.pk_author = b.fk_author) AS n_author,
       (SELECT a.name FROM tb_author a WHERE a.pk_author = b.fk_editor) AS o_editor,
       (SELECT count(*) FROM tb_author) AS n_authors, (SELECT max(x.subtitle) FROM tb_book x WHERE x.pk_book = 1) AS o_max,
       EXISTS (SELECT FROM tb_author) AS n_exists, ARRAY(SELECT nick FROM tb_author) AS n_nicks FROM tb_book b;
CREATE OR REPLACE VIEW s38 AS
SELECT name AS n_name, nick AS o_nick FROM tb_author UNION ALL SELECT title, subtitle FROM tb_book;
CREATE OR REPLACE VIEW s39 AS
(SELECT nick AS n_nick FROM tb_author INTERSECT SELECT 'a') UNION (SELECT name FROM tb_author EXCEPT SELECT NULL);
CREATE OR REPLACE VIEW s40 AS
WITH RECURSIVE up (n, word, prior) AS (
    SELECT 1, 'a'::text, 'z'::text UNION ALL SELECT n + 1, word || n, nullif(word, 'a') FROM up WHERE n < 3
) SELECT n AS n_n, word AS n_word, prior AS o_prior FROM up;
CREATE OR REPLACE VIEW s41 AS
WITH named AS (SELECT nick, name FROM tb_author WHERE nick IS NOT NULL)
SELECT nick AS n_nick, x.n AS n_number, u.tag AS o_tag, u.place AS n_place
FROM named, generate_series(1, 2) AS x (n), unnest(ARRAY['a', NULL]) WITH ORDINALITY AS u (tag, place);
CREATE OR REPLACE VIEW s42 AS
SELECT s.a AS o_a, s.b AS n_b FROM ROWS FROM (generate_series(1, 1), generate_series(1, 2)) AS s (a, b);
CREATE OR REPLACE VIEW s43 AS SELECT v.a AS n_a, v.b AS o_b FROM (VALUES (1, 'x'), (2, NULL)) AS v (a, b);
CREATE OR REPLACE VIEW s44 AS
SELECT DISTINCT ON (a.pk_author) a.name AS n_name, b.title AS o_title
FROM tb_author a LEFT JOIN tb_book b ON b.fk_author = a.pk_author ORDER BY a.pk_author, b.pk_book LIMIT 9;
CREATE OR REPLACE VIEW s45 AS
SELECT name AS n_name, CASE WHEN pk_author = 1 THEN (SELECT b.title FROM tb_book b WHERE b.pk_book = pk_author) ELSE NULL END
    AS o_title FROM tb_author;
CREATE OR REPLACE VIEW s46 AS
SELECT a.nick AS u_nick, CASE WHEN a.pk_author > 0 THEN a.name END AS u_name, b.title AS u_title
FROM tb_author a LEFT JOIN tb_book b ON b.fk_author = a.pk_author
WHERE a.nick IS NOT DISTINCT FROM 'a' AND b.title IS NOT DISTINCT FROM 'One';

-- Comparisons with arrays, which hold for a null if the array is empty.
CREATE OR REPLACE VIEW s47 AS SELECT nick AS o_nick FROM tb_author WHERE NOT (nick = ANY (ARRAY[]::text[]));
CREATE OR REPLACE VIEW s48 AS
SELECT nick AS o_nick FROM tb_author WHERE (nick = ANY (string_to_array('', ','))) IS FALSE;
CREATE OR REPLACE VIEW s49 AS SELECT nick AS n_nick FROM tb_author WHERE NOT (nick IN ('b', 'c'));
CREATE OR REPLACE VIEW s50 AS
SELECT nick AS n_nick FROM tb_author WHERE (nick = ANY (string_to_array('a,b', ','))) IS TRUE;
CREATE OR REPLACE VIEW s51 AS SELECT nick AS n_nick FROM tb_author WHERE nick NOT IN ('b', 'c');

-- Documents: a key that begins with `n_` is provably never null.
CREATE OR REPLACE VIEW d01 AS
SELECT jsonb_build_object('n_name', a.name, 'o_nick', a.nick, 'n_id', a.id::text) AS data FROM tb_author a;
CREATE OR REPLACE VIEW d02 AS SELECT data || jsonb_build_object('n_more', 1, 'o_less', NULL) AS data FROM d01;
CREATE OR REPLACE VIEW d03 AS
SELECT to_jsonb(r) AS data FROM (SELECT name AS n_name, nick AS o_nick FROM tb_author) AS r;
CREATE OR REPLACE VIEW d04 AS
SELECT jsonb_build_object('n_title', b.title, 'o_editor', e.name, 'n_author', (SELECT jsonb_build_object('id', a.id)
    FROM tb_author a WHERE a.pk_author = b.fk_author)) AS data
FROM tb_book b LEFT JOIN tb_author e ON e.pk_author = b.fk_editor;
