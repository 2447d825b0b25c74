-- The other side of seeds.rs.txt.

CREATE TABLE IF NOT EXISTS tb_good (
    id int PRIMARY KEY, name text NOT NULL, nick text, price numeric NOT NULL, at timestamptz NOT NULL, body text NOT NULL,
    other_id int NOT NULL REFERENCES tb_good, maybe_id int REFERENCES tb_good, vouched text, guess text);
CREATE OR REPLACE VIEW v_good AS
SELECT id, name, nick, price, at, other_id, maybe_id, vouched, nullif(guess, '') || '' AS guess,
       jsonb_build_object('body', body) AS data FROM tb_good WHERE guess <> '';

CREATE OR REPLACE VIEW v_unused AS SELECT 1 AS id;

CREATE OR REPLACE VIEW v_columns AS
SELECT 1 AS id, 'x' AS title, 'x' AS text_as_int, 1 AS int_as_bool, 1::bigint AS int_as_uuid, current_date AS date_as_instant,
       now() AS instant_as_date, true AS bool_as_decimal, 'x' AS text_as_float, 1::float8 AS float_as_int,
       '{}'::jsonb AS json_as_text, '1 day'::interval AS interval_as_time, gen_random_uuid() AS uuid_as_big, 1 AS int_as_enum;

CREATE TABLE IF NOT EXISTS tb_nulls (id int PRIMARY KEY, open text, fitting text);
CREATE OR REPLACE VIEW v_nulls AS
SELECT n.id, n.open, j.name AS joined, (SELECT max(id) FROM tb_good WHERE other_id = n.id) AS highest,
       (SELECT jsonb_agg(name) FROM tb_good WHERE other_id = n.id) AS listed, lag(n.id) OVER (ORDER BY n.id) AS before,
       u.united, n.fitting
FROM tb_nulls n LEFT JOIN tb_good j ON j.id = n.id
CROSS JOIN (SELECT 'x' AS united UNION ALL SELECT NULL) AS u;

CREATE OR REPLACE VIEW v_document AS
SELECT id, jsonb_build_object('id', id, 'filled', coalesce(open, ''), 'open', open) AS data FROM tb_nulls;

CREATE TABLE IF NOT EXISTS tv_stored (id int PRIMARY KEY, data jsonb NOT NULL);
INSERT INTO tv_stored VALUES (1, '{"there": "x"}') ON CONFLICT DO NOTHING;

CREATE OR REPLACE VIEW v_related AS
SELECT g.id, gen_random_uuid() AS token, g.maybe_id AS open_id FROM tb_good g;
CREATE OR REPLACE VIEW v_pairs AS
SELECT 1 AS related_id, 2 AS good_id, gen_random_uuid() AS token;

CREATE TABLE IF NOT EXISTS tb_sku (id int PRIMARY KEY, name text NOT NULL UNIQUE, label text);
CREATE UNIQUE INDEX IF NOT EXISTS tb_sku_label ON tb_sku (label) WHERE label <> '';

DO $$ BEGIN
    IF to_regtype('mutation_response') IS NULL THEN
        CREATE TYPE mutation_response AS (status text, message text);
    END IF;
END $$;
CREATE OR REPLACE FUNCTION fn_right(id int, input jsonb) RETURNS mutation_response LANGUAGE sql AS $$ SELECT 'updated', '' $$;
CREATE OR REPLACE FUNCTION fn_counted(a int, b int) RETURNS mutation_response LANGUAGE sql AS $$ SELECT 'updated', '' $$;
CREATE OR REPLACE FUNCTION fn_text(input text) RETURNS mutation_response LANGUAGE sql AS $$ SELECT 'updated', '' $$;
CREATE OR REPLACE PROCEDURE fn_procedure(id int) LANGUAGE sql AS $$ SELECT 1 $$;
CREATE OR REPLACE FUNCTION fn_nothing(id int) RETURNS void LANGUAGE sql AS $$ SELECT $$;
CREATE OR REPLACE FUNCTION fn_double(id int) RETURNS mutation_response LANGUAGE sql AS $$ SELECT 'updated', '' $$;
CREATE OR REPLACE FUNCTION fn_double(id text) RETURNS mutation_response LANGUAGE sql AS $$ SELECT 'updated', '' $$;
CREATE OR REPLACE FUNCTION fn_computed(good v_good, by int) RETURNS int LANGUAGE sql STABLE AS $$ SELECT by $$;
CREATE OR REPLACE FUNCTION fn_volatile(good v_good) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;
CREATE OR REPLACE FUNCTION fn_rows(id int) RETURNS SETOF v_good LANGUAGE sql STABLE AS $$ SELECT * FROM v_good $$;
