CREATE OR REPLACE VIEW v_note AS SELECT body, rating FROM tb_note;
