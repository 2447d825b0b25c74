-- The read side. Each view reads its tables as its caller, so that their policies decide.

CREATE OR REPLACE VIEW v_tenant WITH (security_invoker = true) AS
SELECT id, identifier, name, currency FROM tb_tenant;

CREATE OR REPLACE VIEW v_customer WITH (security_invoker = true) AS
SELECT id, name, email, city FROM tb_customer;

CREATE OR REPLACE VIEW v_category WITH (security_invoker = true) AS
SELECT id, parent_id, name FROM tb_category;

CREATE OR REPLACE VIEW v_product WITH (security_invoker = true) AS
SELECT p.id, p.sku, p.name, p.description, p.price, p.cost, p.stock, p.published, p.created_at, p.search,
       r.rating, r.reviews::integer AS review_count
FROM tb_product AS p
CROSS JOIN LATERAL (
    SELECT round(avg(stars), 2) AS rating, count(*) AS reviews
    FROM tb_review WHERE tenant_id = p.tenant_id AND product_id = p.id) AS r;

CREATE OR REPLACE VIEW v_product_category WITH (security_invoker = true) AS
SELECT product_id, category_id, position, added_at FROM tb_product_category;

-- The products of a category and of those below it. What is asked of one category looks at its branch alone: a condition
-- on the view goes into the outer query, and never into a recursive one.
CREATE OR REPLACE VIEW v_branch_product WITH (security_invoker = true) AS
SELECT c.id AS category_id, b.product_id
FROM tb_category AS c
CROSS JOIN LATERAL (
    WITH RECURSIVE below AS (
        SELECT c.id AS id
        UNION ALL
        SELECT k.id FROM below JOIN tb_category AS k ON k.tenant_id = c.tenant_id AND k.parent_id = below.id
    )
    SELECT DISTINCT pc.product_id
    FROM below JOIN tb_product_category AS pc ON pc.tenant_id = c.tenant_id AND pc.category_id = below.id) AS b;

CREATE OR REPLACE VIEW v_order WITH (security_invoker = true) AS
SELECT o.id, o.number, o.customer_id, o.status, o.placed_at, l.total, l.pieces
FROM tb_order AS o
CROSS JOIN LATERAL (
    SELECT coalesce(sum(quantity * price), 0) AS total, coalesce(sum(quantity), 0)::integer AS pieces
    FROM tb_order_line WHERE tenant_id = o.tenant_id AND order_id = o.id) AS l;

CREATE OR REPLACE VIEW v_order_line WITH (security_invoker = true) AS
SELECT id, order_id, product_id, quantity, price, quantity * price AS total FROM tb_order_line;

-- The author is told to the author and to the staff: a condition on the relation's key would tell it to others.
CREATE OR REPLACE VIEW v_review WITH (security_invoker = true) AS
SELECT id, product_id, CASE WHEN app.is_staff() OR customer_id = app.user_id() THEN customer_id END AS customer_id,
       stars, body, written_at
FROM tb_review;
