CREATE TABLE tb_note (body text NOT NULL);
