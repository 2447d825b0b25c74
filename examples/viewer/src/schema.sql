CREATE TABLE IF NOT EXISTS tb_note (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner text NOT NULL,
    body text NOT NULL
);

CREATE OR REPLACE VIEW v_note AS
SELECT id, body FROM tb_note WHERE owner = current_setting('app.user_id', true);

CREATE SCHEMA IF NOT EXISTS app;

CREATE OR REPLACE FUNCTION app.add_note(user_id text, body text) RETURNS integer LANGUAGE sql AS
'INSERT INTO tb_note (owner, body) VALUES ($1, $2) RETURNING id';
