-- Users. The file runs again whenever it has changed.

-- A field is read from its column, or else from `data`. Filters and orders use columns.
CREATE OR REPLACE VIEW v_user AS
SELECT id, name, email, created_at,
       jsonb_build_object('id', id, 'name', name, 'email', email, 'created_at', created_at) AS data
FROM tb_user;
