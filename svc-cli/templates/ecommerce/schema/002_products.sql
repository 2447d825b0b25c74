-- Products, and the variants in which they are sold.

CREATE TABLE IF NOT EXISTS tb_product (
    pk_product   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id           uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    identifier   text NOT NULL UNIQUE,
    name         text NOT NULL,
    description  text NOT NULL DEFAULT '',
    active       boolean NOT NULL DEFAULT true
);

CREATE TABLE IF NOT EXISTS tb_variant (
    pk_variant  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    fk_product  bigint NOT NULL REFERENCES tb_product,
    sku         text NOT NULL UNIQUE,
    name        text NOT NULL,
    price       numeric(12, 2) NOT NULL CHECK (price >= 0),
    stock       integer NOT NULL DEFAULT 0 CONSTRAINT tb_variant_stock_left CHECK (stock >= 0)
);

CREATE INDEX IF NOT EXISTS tb_product_name ON tb_product (name, id);
CREATE INDEX IF NOT EXISTS tb_variant_fk_product ON tb_variant (fk_product);

CREATE OR REPLACE VIEW v_product AS
SELECT id, identifier, name, active,
       jsonb_build_object('id', id, 'identifier', identifier, 'name', name, 'description', description,
                          'active', active) AS data
FROM tb_product;

-- `product_id` is the key of a relation.
CREATE OR REPLACE VIEW v_variant AS
SELECT v.id, p.id AS product_id, v.sku, v.name, v.price, v.stock,
       jsonb_build_object('id', v.id, 'product_id', p.id, 'sku', v.sku, 'name', v.name, 'price', v.price::text,
                          'stock', v.stock) AS data
FROM tb_variant AS v
JOIN tb_product AS p ON p.pk_product = v.fk_product;

INSERT INTO tb_product (identifier, name, description)
VALUES ('shirt', 'Shirt', 'Of linen.'), ('mug', 'Mug', 'Holds a third of a litre.')
ON CONFLICT DO NOTHING;

INSERT INTO tb_variant (fk_product, sku, name, price, stock)
SELECT pk_product, sku, v.name, price, stock
FROM (VALUES ('shirt', 'SHIRT-S', 'Small', 29.90, 5), ('shirt', 'SHIRT-L', 'Large', 29.90, 3),
             ('mug', 'MUG-1', 'White', 8.50, 12)) AS v (product, sku, name, price, stock)
JOIN tb_product ON identifier = product
ON CONFLICT DO NOTHING;
