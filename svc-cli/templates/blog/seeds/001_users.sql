-- Two users, unless they exist.

INSERT INTO tb_user (name, email)
VALUES ('Ada Lovelace', 'ada@example.org'), ('Grace Hopper', 'grace@example.org')
ON CONFLICT DO NOTHING;
