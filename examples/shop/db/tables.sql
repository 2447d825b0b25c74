-- The write side. Each key has the tenant in it, as PostgreSQL checks keys without asking policies.
SET LOCAL client_min_messages = warning;

CREATE SCHEMA IF NOT EXISTS app;

-- Who asks, as the service says for each request. Null where the request says nothing.
CREATE OR REPLACE FUNCTION app.tenant_id() RETURNS uuid LANGUAGE sql STABLE
    RETURN nullif(current_setting('app.tenant_id', true), '')::uuid;
CREATE OR REPLACE FUNCTION app.user_id() RETURNS uuid LANGUAGE sql STABLE
    RETURN nullif(current_setting('app.user_id', true), '')::uuid;
-- Whether a clerk or a manager asks.
CREATE OR REPLACE FUNCTION app.is_staff() RETURNS boolean LANGUAGE sql STABLE
    RETURN current_setting('app.staff', true) = 'yes';

CREATE TABLE IF NOT EXISTS tb_tenant (
    id          uuid PRIMARY KEY,
    identifier  text NOT NULL UNIQUE,
    name        text NOT NULL,
    currency    text NOT NULL,
    -- The number of the last order.
    last_order  integer NOT NULL DEFAULT 0
);

CREATE TABLE IF NOT EXISTS tb_customer (
    tenant_id   uuid NOT NULL DEFAULT app.tenant_id() REFERENCES tb_tenant,
    id          uuid NOT NULL DEFAULT gen_random_uuid(),
    name        text NOT NULL,
    email       text NOT NULL,
    city        text,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT tb_customer_email UNIQUE (tenant_id, email)
);

CREATE TABLE IF NOT EXISTS tb_category (
    tenant_id   uuid NOT NULL DEFAULT app.tenant_id() REFERENCES tb_tenant,
    id          uuid NOT NULL DEFAULT gen_random_uuid(),
    parent_id   uuid,
    name        text NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT tb_category_name UNIQUE NULLS NOT DISTINCT (tenant_id, parent_id, name),
    CONSTRAINT tb_category_parent FOREIGN KEY (tenant_id, parent_id) REFERENCES tb_category
);

CREATE TABLE IF NOT EXISTS tb_product (
    tenant_id    uuid NOT NULL DEFAULT app.tenant_id() REFERENCES tb_tenant,
    id           uuid NOT NULL DEFAULT gen_random_uuid(),
    sku          text NOT NULL,
    name         text NOT NULL,
    description  text NOT NULL DEFAULT '',
    price        numeric(10, 2) NOT NULL CONSTRAINT tb_product_price CHECK (price > 0),
    -- What the shop itself has paid.
    cost         numeric(10, 2),
    stock        integer NOT NULL DEFAULT 0 CONSTRAINT tb_product_stock CHECK (stock >= 0),
    published    boolean NOT NULL DEFAULT false,
    created_at   timestamptz NOT NULL DEFAULT now(),
    search       tsvector NOT NULL GENERATED ALWAYS AS
        (setweight(to_tsvector('english', name), 'A') || setweight(to_tsvector('english', description), 'B')) STORED,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT tb_product_sku UNIQUE (tenant_id, sku)
);

CREATE TABLE IF NOT EXISTS tb_product_category (
    tenant_id    uuid NOT NULL DEFAULT app.tenant_id() REFERENCES tb_tenant,
    product_id   uuid NOT NULL,
    category_id  uuid NOT NULL,
    -- The place of the category among those of the product.
    position     integer NOT NULL,
    added_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, product_id, category_id),
    FOREIGN KEY (tenant_id, product_id) REFERENCES tb_product ON DELETE CASCADE,
    CONSTRAINT tb_product_category_there FOREIGN KEY (tenant_id, category_id) REFERENCES tb_category
);

CREATE TABLE IF NOT EXISTS tb_order (
    tenant_id    uuid NOT NULL DEFAULT app.tenant_id() REFERENCES tb_tenant,
    id           uuid NOT NULL DEFAULT gen_random_uuid(),
    number       integer NOT NULL,
    customer_id  uuid NOT NULL,
    status       text NOT NULL DEFAULT 'placed' CHECK (status IN ('placed', 'shipped', 'cancelled')),
    placed_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, number),
    FOREIGN KEY (tenant_id, customer_id) REFERENCES tb_customer
);

CREATE TABLE IF NOT EXISTS tb_order_line (
    tenant_id    uuid NOT NULL DEFAULT app.tenant_id() REFERENCES tb_tenant,
    id           uuid NOT NULL DEFAULT gen_random_uuid(),
    order_id     uuid NOT NULL,
    product_id   uuid NOT NULL,
    quantity     integer NOT NULL CONSTRAINT tb_order_line_quantity CHECK (quantity > 0),
    -- That of a piece when it was sold.
    price        numeric(10, 2) NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, order_id) REFERENCES tb_order,
    CONSTRAINT tb_order_line_product FOREIGN KEY (tenant_id, product_id) REFERENCES tb_product
);

CREATE TABLE IF NOT EXISTS tb_review (
    tenant_id    uuid NOT NULL DEFAULT app.tenant_id() REFERENCES tb_tenant,
    id           uuid NOT NULL DEFAULT gen_random_uuid(),
    product_id   uuid NOT NULL,
    customer_id  uuid NOT NULL DEFAULT app.user_id(),
    stars        integer NOT NULL CONSTRAINT tb_review_stars CHECK (stars BETWEEN 1 AND 5),
    body         text NOT NULL,
    written_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT tb_review_once UNIQUE (tenant_id, product_id, customer_id),
    CONSTRAINT tb_review_product FOREIGN KEY (tenant_id, product_id) REFERENCES tb_product ON DELETE CASCADE,
    CONSTRAINT tb_review_customer FOREIGN KEY (tenant_id, customer_id) REFERENCES tb_customer
);

-- Relations compare one key, and the policies add the tenant.
CREATE INDEX IF NOT EXISTS tb_category_parent ON tb_category (tenant_id, parent_id, name);
CREATE INDEX IF NOT EXISTS tb_product_name ON tb_product (tenant_id, name);
CREATE INDEX IF NOT EXISTS tb_product_price ON tb_product (tenant_id, price);
CREATE INDEX IF NOT EXISTS tb_product_search ON tb_product USING gin (search);
CREATE INDEX IF NOT EXISTS tb_product_category_category ON tb_product_category (tenant_id, category_id, product_id);
CREATE INDEX IF NOT EXISTS tb_order_customer ON tb_order (tenant_id, customer_id, placed_at);
CREATE INDEX IF NOT EXISTS tb_order_line_order ON tb_order_line (tenant_id, order_id);
CREATE INDEX IF NOT EXISTS tb_order_line_product ON tb_order_line (tenant_id, product_id);
CREATE INDEX IF NOT EXISTS tb_review_product ON tb_review (tenant_id, product_id, written_at);

-- The words of clients are read in the configuration of the database; it has to be that of the column `search`.
DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET default_text_search_config = %L', current_database(), 'pg_catalog.english');
END $$;
