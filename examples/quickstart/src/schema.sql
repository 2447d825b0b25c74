CREATE TABLE IF NOT EXISTS tb_user (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

INSERT INTO tb_user (name)
SELECT name FROM (VALUES ('Ada'), ('Grace'), ('Linus')) AS v (name)
WHERE NOT EXISTS (SELECT FROM tb_user);

CREATE OR REPLACE VIEW v_user AS
SELECT id, name, created_at, jsonb_build_object('id', id, 'name', name, 'created_at', created_at) AS data
FROM tb_user;
