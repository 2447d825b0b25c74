INSERT INTO tb_note VALUES ('from the seed');
