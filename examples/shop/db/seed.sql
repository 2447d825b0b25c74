-- Two shops, which never see each other.
DO $seed$
DECLARE
    north CONSTANT uuid := '10000000-0000-4000-8000-000000000001';
    south CONSTANT uuid := '20000000-0000-4000-8000-000000000001';
BEGIN
IF EXISTS (SELECT FROM tb_tenant) THEN
    RETURN;
END IF;

INSERT INTO tb_tenant (id, identifier, name, currency) VALUES
    (north, 'north', 'North Pottery', 'EUR'),
    (south, 'south', 'South Tools', 'USD');

INSERT INTO tb_customer (tenant_id, id, name, email, city) VALUES
    (north, '10000000-0000-4000-8000-0000000000a1', 'Ada', 'ada@example.org', 'Oslo'),
    (north, '10000000-0000-4000-8000-0000000000b1', 'Bob', 'bob@example.org', 'Bergen'),
    (north, '10000000-0000-4000-8000-0000000000c1', 'Cleo', 'cleo@example.org', NULL),
    (south, '20000000-0000-4000-8000-0000000000a1', 'Sofia', 'sofia@example.org', 'Lisbon');

INSERT INTO tb_category (tenant_id, id, parent_id, name) VALUES
    (north, '10000000-0000-4000-8000-00000000ca01', NULL, 'Kitchen'),
    (north, '10000000-0000-4000-8000-00000000ca02', '10000000-0000-4000-8000-00000000ca01', 'Cups'),
    (north, '10000000-0000-4000-8000-00000000ca03', '10000000-0000-4000-8000-00000000ca01', 'Plates'),
    (north, '10000000-0000-4000-8000-00000000ca04', '10000000-0000-4000-8000-00000000ca02', 'Espresso cups'),
    (north, '10000000-0000-4000-8000-00000000ca05', NULL, 'Garden'),
    (north, '10000000-0000-4000-8000-00000000ca06', NULL, 'Gifts'),
    (south, '20000000-0000-4000-8000-00000000ca01', NULL, 'Garden');

INSERT INTO tb_product (tenant_id, id, sku, name, description, price, cost, stock, published, created_at)
SELECT shop, (substr(shop::text, 1, 24) || lpad(to_hex(60000 + number), 12, '0'))::uuid, sku, name, description, price,
       cost, stock, published, timestamptz '2026-01-01 00:00:00+00' + number * interval '1 day'
FROM (VALUES
    (north,  1, 'mug',       'Mug',            'A large cup for tea or coffee.',                8.50, 3.10,  12, true),
    (north,  2, 'espresso',  'Espresso cup',   'A small cup for strong coffee.',                6.00, 2.00,  30, true),
    (north,  3, 'saucer',    'Saucer',         'It goes under an espresso cup.',                3.20, 1.00,  30, true),
    (north,  4, 'plate',     'Dinner plate',   'Flat, 27 cm.',                                 14.00, 5.50,  20, true),
    (north,  5, 'bowl',      'Soup bowl',      'Deep enough for soup, wide enough for pasta.', 12.00, 4.00,   0, true),
    (north,  6, 'teapot',    'Teapot',         'Holds tea for four cups.',                     39.00, 15.0,   5, true),
    (north,  7, 'vase',      'Vase',           'For flowers of the garden.',                   24.00, 9.00,   7, true),
    (north,  8, 'planter',   'Planter',        'A pot for herbs.',                             18.50, 6.00,  11, true),
    (north,  9, 'jug',       'Jug',            'For water and milk.',                          21.00, 8.00,   9, true),
    (north, 10, 'candle',    'Candle holder',  'For one candle.',                               9.90, NULL,   3, true),
    (north, 11, 'prototype', 'Lamp',           'Not on sale yet.',                             79.00, 40.0,   1, false),
    (south,  1, 'mug',       'Tin mug',        'A cup for the garden shed.',                    5.00, 1.50, 100, true),
    (south,  2, 'spade',     'Spade',          'For heavy ground.',                            35.00, 12.0,   8, true)
) AS p (shop, number, sku, name, description, price, cost, stock, published);

INSERT INTO tb_product_category (tenant_id, product_id, category_id, position)
SELECT p.tenant_id, p.id, c.id, place
FROM (VALUES
    ('north', 'mug', 'Cups', 1), ('north', 'espresso', 'Espresso cups', 1), ('north', 'saucer', 'Espresso cups', 1),
    ('north', 'plate', 'Plates', 1), ('north', 'bowl', 'Plates', 1), ('north', 'teapot', 'Kitchen', 1),
    ('north', 'teapot', 'Gifts', 2), ('north', 'vase', 'Garden', 1), ('north', 'vase', 'Gifts', 2),
    ('north', 'planter', 'Garden', 1), ('north', 'jug', 'Kitchen', 1), ('north', 'candle', 'Gifts', 1),
    ('south', 'mug', 'Garden', 1), ('south', 'spade', 'Garden', 1)
) AS pair (shop, sku, category, place)
JOIN tb_tenant AS t ON t.identifier = shop
JOIN tb_product AS p ON p.tenant_id = t.id AND p.sku = pair.sku
JOIN tb_category AS c ON c.tenant_id = t.id AND c.name = pair.category;

INSERT INTO tb_order (tenant_id, id, number, customer_id, status, placed_at) VALUES
    (north, '10000000-0000-4000-8000-00000000de01', 1, '10000000-0000-4000-8000-0000000000a1', 'shipped', '2026-02-01'),
    (north, '10000000-0000-4000-8000-00000000de02', 2, '10000000-0000-4000-8000-0000000000b1', 'placed', '2026-02-02'),
    (north, '10000000-0000-4000-8000-00000000de03', 3, '10000000-0000-4000-8000-0000000000a1', 'placed', '2026-02-03'),
    (south, '20000000-0000-4000-8000-00000000de01', 1, '20000000-0000-4000-8000-0000000000a1', 'placed', '2026-02-04');

INSERT INTO tb_order_line (tenant_id, order_id, product_id, quantity, price)
SELECT o.tenant_id, o.id, p.id, quantity, p.price
FROM (VALUES
    ('north', 1, 'espresso', 2), ('north', 1, 'saucer', 2), ('north', 2, 'teapot', 1), ('north', 3, 'mug', 4),
    ('north', 3, 'plate', 1), ('south', 1, 'spade', 2)
) AS line (shop, number, sku, quantity)
JOIN tb_tenant AS t ON t.identifier = shop
JOIN tb_order AS o ON o.tenant_id = t.id AND o.number = line.number
JOIN tb_product AS p ON p.tenant_id = t.id AND p.sku = line.sku;

UPDATE tb_tenant AS t SET last_order = (SELECT max(number) FROM tb_order WHERE tenant_id = t.id);

INSERT INTO tb_review (tenant_id, product_id, customer_id, stars, body, written_at)
SELECT p.tenant_id, p.id, c.id, stars, body, written_at::timestamptz
FROM (VALUES
    ('north', 'espresso', 'Ada', 5, 'Small and pretty.', '2026-02-10'),
    ('north', 'espresso', 'Bob', 4, 'Too small for me.', '2026-02-11'),
    ('north', 'teapot', 'Bob', 2, 'It drips.', '2026-02-12'),
    ('south', 'spade', 'Sofia', 5, 'It digs.', '2026-02-13')
) AS review (shop, sku, customer, stars, body, written_at)
JOIN tb_tenant AS t ON t.identifier = shop
JOIN tb_product AS p ON p.tenant_id = t.id AND p.sku = review.sku
JOIN tb_customer AS c ON c.tenant_id = t.id AND c.name = review.customer;
END
$seed$;
