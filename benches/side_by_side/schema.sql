-- Benchmark schema: a blog in the "trinity" pattern
-- (pk_<entity> bigint identity for joins, id uuid for the public, identifier text for people).
-- Base tables, then v_* views exposing `id`, the native filter/sort columns and one JSONB `data`.
-- Keys inside `data` are snake_case.
BEGIN;
DROP SCHEMA IF EXISTS app CASCADE;
DROP TABLE IF EXISTS tb_comment, tb_post, tb_user CASCADE;

CREATE TABLE tb_user (
  pk_user     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id          uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  identifier  text NOT NULL UNIQUE,
  name        text NOT NULL,
  email       text NOT NULL UNIQUE,
  bio         text NOT NULL,
  city        text NOT NULL,
  score       int  NOT NULL,
  created_at  timestamptz NOT NULL
);
CREATE TABLE tb_post (
  pk_post     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id          uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  identifier  text NOT NULL UNIQUE,
  fk_author   bigint NOT NULL REFERENCES tb_user,
  title       text NOT NULL,
  body        text NOT NULL,
  view_count  int  NOT NULL,
  created_at  timestamptz NOT NULL
);
CREATE TABLE tb_comment (
  pk_comment  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id          uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  fk_post     bigint NOT NULL REFERENCES tb_post,
  fk_author   bigint NOT NULL REFERENCES tb_user,
  body        text NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now()
);
COMMIT;
