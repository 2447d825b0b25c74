-- Orders and their lines.

CREATE TABLE IF NOT EXISTS tb_order (
    pk_order     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id           uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    fk_customer  bigint NOT NULL REFERENCES tb_customer,
    status       text NOT NULL DEFAULT 'placed' CHECK (status IN ('placed', 'shipped', 'cancelled')),
    created_at   timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS tb_order_line (
    pk_order_line  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id             uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    fk_order       bigint NOT NULL REFERENCES tb_order,
    fk_variant     bigint NOT NULL REFERENCES tb_variant,
    quantity       integer NOT NULL CHECK (quantity > 0),
    price          numeric(12, 2) NOT NULL
);

CREATE INDEX IF NOT EXISTS tb_order_created_at ON tb_order (created_at, id);
CREATE INDEX IF NOT EXISTS tb_order_fk_customer ON tb_order (fk_customer);
CREATE INDEX IF NOT EXISTS tb_order_line_fk_order ON tb_order_line (fk_order);
CREATE INDEX IF NOT EXISTS tb_order_line_fk_variant ON tb_order_line (fk_variant);

CREATE OR REPLACE VIEW v_order AS
SELECT o.id, c.id AS customer_id, o.status, t.total, o.created_at,
       jsonb_build_object('id', o.id, 'customer_id', c.id, 'status', o.status, 'total', t.total::text,
                          'created_at', o.created_at) AS data
FROM tb_order AS o
JOIN tb_customer AS c ON c.pk_customer = o.fk_customer
CROSS JOIN LATERAL (
    SELECT coalesce(sum(quantity * price), 0)::numeric(12, 2) AS total FROM tb_order_line WHERE fk_order = o.pk_order
) AS t;

CREATE OR REPLACE VIEW v_order_line AS
SELECT l.id, o.id AS order_id, v.id AS variant_id, l.quantity, l.price,
       jsonb_build_object('id', l.id, 'order_id', o.id, 'variant_id', v.id, 'quantity', l.quantity,
                          'price', l.price::text) AS data
FROM tb_order_line AS l
JOIN tb_order AS o ON o.pk_order = l.fk_order
JOIN tb_variant AS v ON v.pk_variant = l.fk_variant;
