-- Tags of posts, many to many: eight to twelve of forty for each post. Views of them for the layouts with relations.
BEGIN;
DROP TABLE IF EXISTS tb_post_tag, tb_tag CASCADE;
CREATE TABLE tb_tag (
  pk_tag  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id      uuid NOT NULL UNIQUE,
  name    text NOT NULL UNIQUE
);
CREATE TABLE tb_post_tag (
  fk_post bigint NOT NULL REFERENCES tb_post,
  fk_tag  bigint NOT NULL REFERENCES tb_tag,
  PRIMARY KEY (fk_post, fk_tag)
);
INSERT INTO tb_tag (id, name) SELECT md5('tag' || i)::uuid, 'tag-' || lpad(i::text, 2, '0') FROM generate_series(1, 40) AS i ORDER BY i;
INSERT INTO tb_post_tag
SELECT p, 1 + (p * 7 + n * 11) % 40 FROM generate_series(1, 50000) AS p, generate_series(1, 12) AS n WHERE n <= 8 + p % 5;
CREATE INDEX tb_post_tag_tag ON tb_post_tag (fk_tag, fk_post);

CREATE OR REPLACE VIEW c_tag AS SELECT pk_tag, id, name FROM tb_tag;
CREATE OR REPLACE VIEW d_tag AS SELECT pk_tag, id, jsonb_build_object('name', name) AS data FROM tb_tag;
CREATE OR REPLACE VIEW c_post_tag AS SELECT fk_post, fk_tag FROM tb_post_tag;
COMMIT;
VACUUM (FREEZE, ANALYZE) tb_tag, tb_post_tag;
