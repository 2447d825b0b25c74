-- Users. The file runs again whenever it has changed.

-- The columns are for filters and orders; `data` holds all that the type reads.
CREATE OR REPLACE VIEW v_user AS
SELECT id, name, email, created_at,
       jsonb_build_object('id', id, 'name', name, 'email', email, 'created_at', created_at) AS data
FROM tb_user;
