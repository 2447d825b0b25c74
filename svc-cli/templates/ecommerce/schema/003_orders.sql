-- Orders and their lines.

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
