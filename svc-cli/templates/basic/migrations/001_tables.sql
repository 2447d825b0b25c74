-- The tables. This file runs once; put changes into a new file: svc migrate new NAME.

CREATE TABLE tb_user (
    pk_user     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    name        text NOT NULL,
    email       text NOT NULL UNIQUE,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX tb_user_created_at ON tb_user (created_at, id);
