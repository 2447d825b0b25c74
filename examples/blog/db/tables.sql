-- The write side. Each table has three names for a row: pk_ for joins, id for the public, identifier for people.
SET LOCAL client_min_messages = warning;

CREATE TABLE IF NOT EXISTS tb_user (
    pk_user     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    identifier  text NOT NULL UNIQUE,
    name        text NOT NULL,
    email       text NOT NULL UNIQUE,
    role        text NOT NULL CHECK (role IN ('reader', 'author', 'editor', 'admin')),
    bio         text,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS tb_post (
    pk_post     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    identifier  text NOT NULL UNIQUE,
    fk_author   bigint NOT NULL REFERENCES tb_user,
    title       text NOT NULL,
    body        text NOT NULL,
    view_count  integer NOT NULL DEFAULT 0,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS tb_comment (
    pk_comment  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    identifier  text NOT NULL UNIQUE DEFAULT 'comment-' || gen_random_uuid(),
    fk_post     bigint NOT NULL REFERENCES tb_post,
    fk_author   bigint NOT NULL REFERENCES tb_user,
    body        text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);

-- What is not published yet.
ALTER TABLE tb_post ADD COLUMN IF NOT EXISTS draft boolean NOT NULL DEFAULT false;

CREATE INDEX IF NOT EXISTS tb_user_name ON tb_user (name);
CREATE INDEX IF NOT EXISTS tb_post_created_at ON tb_post (created_at);
CREATE INDEX IF NOT EXISTS tb_post_fk_author ON tb_post (fk_author);
CREATE INDEX IF NOT EXISTS tb_comment_fk_post ON tb_comment (fk_post, created_at);
CREATE INDEX IF NOT EXISTS tb_comment_fk_author ON tb_comment (fk_author);
