-- Customers.

CREATE OR REPLACE VIEW v_customer AS
SELECT id, name, email, created_at,
       jsonb_build_object('id', id, 'name', name, 'email', email, 'created_at', created_at) AS data
FROM tb_customer;
