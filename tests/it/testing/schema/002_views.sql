CREATE VIEW v_note AS SELECT body FROM tb_note;
