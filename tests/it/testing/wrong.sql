-- A view of a table that is not there.
SELECT 1;
CREATE VIEW v_missing AS SELECT * FROM tb_missing;
