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
SELECT product_id, category_id FROM tb_product_category;

-- A row for each category and each that lies above it; the category itself counts.
CREATE OR REPLACE VIEW v_category_above WITH (security_invoker = true) AS
WITH RECURSIVE above AS (
    SELECT tenant_id, id AS category_id, id AS above_id, parent_id FROM tb_category
    UNION ALL
    SELECT a.tenant_id, a.category_id, c.id, c.parent_id
    FROM above AS a JOIN tb_category AS c ON c.tenant_id = a.tenant_id AND c.id = a.parent_id
)
SELECT category_id, above_id FROM above;

-- The products of a category and of those below it.
CREATE OR REPLACE VIEW v_branch_product WITH (security_invoker = true) AS
SELECT DISTINCT a.above_id AS category_id, pc.product_id
FROM v_category_above AS a JOIN tb_product_category AS pc ON pc.category_id = a.category_id;

CREATE OR REPLACE VIEW v_order WITH (security_invoker = true) AS
SELECT o.id, o.number, o.customer_id, o.status, o.placed_at, l.total, l.pieces
FROM tb_order AS o
CROSS JOIN LATERAL (
    SELECT coalesce(sum(quantity * price), 0) AS total, coalesce(sum(quantity), 0)::integer AS pieces
    FROM tb_order_line WHERE tenant_id = o.tenant_id AND order_id = o.id) AS l;

CREATE OR REPLACE VIEW v_order_line WITH (security_invoker = true) AS
SELECT id, order_id, product_id, quantity, price, quantity * price AS total FROM tb_order_line;

CREATE OR REPLACE VIEW v_review WITH (security_invoker = true) AS
SELECT id, product_id, customer_id, stars, body, written_at FROM tb_review;
