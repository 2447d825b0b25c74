CREATE OR REPLACE VIEW v_best AS SELECT body, label(rating) AS label FROM v_note;
