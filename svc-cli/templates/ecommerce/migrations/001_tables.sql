-- The tables. This file runs once; put changes into a new file: svc migrate new NAME.

CREATE TABLE tb_customer (
    pk_customer  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id           uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    name         text NOT NULL,
    email        text NOT NULL UNIQUE,
    created_at   timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE tb_product (
    pk_product   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id           uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    identifier   text NOT NULL UNIQUE,
    name         text NOT NULL,
    description  text NOT NULL DEFAULT '',
    active       boolean NOT NULL DEFAULT true
);

CREATE TABLE tb_variant (
    pk_variant  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    fk_product  bigint NOT NULL REFERENCES tb_product,
    sku         text NOT NULL UNIQUE,
    name        text NOT NULL,
    price       numeric(12, 2) NOT NULL CHECK (price >= 0),
    stock       integer NOT NULL DEFAULT 0 CONSTRAINT tb_variant_stock_left CHECK (stock >= 0)
);

CREATE INDEX tb_product_name ON tb_product (name, id);
CREATE INDEX tb_variant_fk_product ON tb_variant (fk_product);

CREATE TABLE tb_order (
    pk_order     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id           uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    fk_customer  bigint NOT NULL REFERENCES tb_customer,
    status       text NOT NULL DEFAULT 'placed' CHECK (status IN ('placed', 'shipped', 'cancelled')),
    created_at   timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE tb_order_line (
    pk_order_line  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id             uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    fk_order       bigint NOT NULL REFERENCES tb_order,
    fk_variant     bigint NOT NULL REFERENCES tb_variant,
    quantity       integer NOT NULL CHECK (quantity > 0),
    price          numeric(12, 2) NOT NULL
);

CREATE INDEX tb_order_created_at ON tb_order (created_at, id);
CREATE INDEX tb_order_fk_customer ON tb_order (fk_customer);
CREATE INDEX tb_order_line_fk_order ON tb_order_line (fk_order);
CREATE INDEX tb_order_line_fk_variant ON tb_order_line (fk_variant);

-- The result of the functions in db/schema.
CREATE TYPE mutation_response AS (
    status text, message text, entity_id text, entity_type text, entity jsonb,
    updated_fields text[], cascade jsonb, metadata jsonb
);
