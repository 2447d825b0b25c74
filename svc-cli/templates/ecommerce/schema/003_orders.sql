-- Orders and their lines.

-- The total is a subquery in a select list, and not a join, so PostgreSQL computes it only if a query reads it.
CREATE OR REPLACE VIEW v_order AS
SELECT o.id, c.id AS customer_id, o.status, o.total, o.created_at,
       jsonb_build_object('id', o.id, 'customer_id', c.id, 'status', o.status, 'total', o.total::text,
                          'created_at', o.created_at) AS data
FROM (
    SELECT id, fk_customer, status, created_at,
           (SELECT coalesce(sum(l.quantity * l.price), 0)::numeric(12, 2)
            FROM tb_order_line AS l WHERE l.fk_order = tb_order.pk_order) AS total
    FROM tb_order
) AS o
JOIN tb_customer AS c ON c.pk_customer = o.fk_customer;

CREATE OR REPLACE VIEW v_order_line AS
SELECT l.id, o.id AS order_id, v.id AS variant_id, l.quantity, l.price,
       jsonb_build_object('id', l.id, 'order_id', o.id, 'variant_id', v.id, 'quantity', l.quantity,
                          'price', l.price::text) AS data
FROM tb_order_line AS l
JOIN tb_order AS o ON o.pk_order = l.fk_order
JOIN tb_variant AS v ON v.pk_variant = l.fk_variant;
