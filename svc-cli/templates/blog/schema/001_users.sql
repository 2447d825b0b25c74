-- Users. The file can be run again: `svc migrate up` does so when it has changed.

CREATE TABLE IF NOT EXISTS tb_user (
    pk_user     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    name        text NOT NULL,
    email       text NOT NULL UNIQUE,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS tb_user_created_at ON tb_user (created_at, id);

-- The columns are for filters and orders; `data` holds all that the type reads.
CREATE OR REPLACE VIEW v_user AS
SELECT pk_user, id, name, email, created_at,
       jsonb_build_object('id', id, 'name', name, 'email', email, 'created_at', created_at) AS data
FROM tb_user;

INSERT INTO tb_user (name, email)
VALUES ('Ada Lovelace', 'ada@example.org'), ('Grace Hopper', 'grace@example.org')
ON CONFLICT DO NOTHING;
