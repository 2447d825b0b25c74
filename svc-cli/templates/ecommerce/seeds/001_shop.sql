-- Customers, products and variants, unless they exist.

INSERT INTO tb_customer (name, email)
VALUES ('Ada Lovelace', 'ada@example.org'), ('Grace Hopper', 'grace@example.org')
ON CONFLICT DO NOTHING;

INSERT INTO tb_product (identifier, name, description)
VALUES ('shirt', 'Shirt', 'Of linen.'), ('mug', 'Mug', 'Holds a third of a litre.')
ON CONFLICT DO NOTHING;

INSERT INTO tb_variant (fk_product, sku, name, price, stock)
SELECT pk_product, sku, v.name, price, stock
FROM (VALUES ('shirt', 'SHIRT-S', 'Small', 29.90, 5), ('shirt', 'SHIRT-L', 'Large', 29.90, 3),
             ('mug', 'MUG-1', 'White', 8.50, 12)) AS v (product, sku, name, price, stock)
JOIN tb_product ON identifier = product
ON CONFLICT DO NOTHING;
