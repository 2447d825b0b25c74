-- Products, and the variants in which they are sold.

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
