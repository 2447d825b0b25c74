-- Customers.

CREATE TABLE IF NOT EXISTS tb_customer (
    pk_customer  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id           uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    name         text NOT NULL,
    email        text NOT NULL UNIQUE,
    created_at   timestamptz NOT NULL DEFAULT now()
);

CREATE OR REPLACE VIEW v_customer AS
SELECT id, name, email, created_at,
       jsonb_build_object('id', id, 'name', name, 'email', email, 'created_at', created_at) AS data
FROM tb_customer;

INSERT INTO tb_customer (name, email)
VALUES ('Ada Lovelace', 'ada@example.org'), ('Grace Hopper', 'grace@example.org')
ON CONFLICT DO NOTHING;
