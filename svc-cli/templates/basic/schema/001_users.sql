-- Users. This file runs again after each change.

-- svc reads a field from its column, or from `data` if there is none. Filters and orders use columns.
CREATE OR REPLACE VIEW v_user AS
SELECT id, name, email, created_at,
       jsonb_build_object('id', id, 'name', name, 'email', email, 'created_at', created_at) AS data
FROM tb_user;
