-- The tables. This file runs once; put changes into a new file: svc migrate new NAME.

CREATE TABLE tb_user (
    pk_user     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    name        text NOT NULL,
    email       text NOT NULL UNIQUE,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX tb_user_created_at ON tb_user (created_at, id);

CREATE TABLE tb_post (
    pk_post     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    fk_author   bigint NOT NULL REFERENCES tb_user,
    title       text NOT NULL CHECK (title <> ''),
    body        text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX tb_post_created_at ON tb_post (created_at, id);
CREATE INDEX tb_post_fk_author ON tb_post (fk_author);

CREATE TABLE tb_comment (
    pk_comment  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    fk_post     bigint NOT NULL REFERENCES tb_post,
    fk_author   bigint NOT NULL REFERENCES tb_user,
    body        text NOT NULL CHECK (body <> ''),
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX tb_comment_fk_post ON tb_comment (fk_post, created_at);
CREATE INDEX tb_comment_fk_author ON tb_comment (fk_author);

-- The result of the functions in db/schema.
CREATE TYPE mutation_response AS (
    status text, message text, entity_id text, entity_type text, entity jsonb,
    updated_fields text[], cascade jsonb, metadata jsonb
);
