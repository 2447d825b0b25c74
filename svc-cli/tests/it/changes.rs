//! Changes of tables and views as a user makes them, one after the other: the database of the
//! developer, an empty one and one that is two releases behind end equal.

use std::process::Command;

use crate::database::project;
use crate::support::Place;

/// A change: its name, and the files with their new texts. A file without a text is removed.
type Change = (&'static str, &'static [(&'static str, &'static str)]);

const CHANGES: &[Change] = &[
    (
        "the beginning",
        &[
            (
                "db/migrations/001_tables.sql",
                "CREATE TYPE status AS ENUM ('new', 'done');\n\
                 CREATE TABLE tb_item (id int PRIMARY KEY, name text NOT NULL, price int, state status NOT NULL DEFAULT 'new', note text);\n\
                 CREATE TABLE tb_part (id int PRIMARY KEY, item_id int NOT NULL REFERENCES tb_item);",
            ),
            (
                "db/schema/010_items.sql",
                "CREATE OR REPLACE VIEW v_item AS SELECT id, name, price, state, note FROM tb_item;",
            ),
            (
                "db/schema/015_parts.sql",
                "CREATE OR REPLACE VIEW v_part AS SELECT id, item_id FROM tb_part;",
            ),
            (
                "db/schema/020_functions.sql",
                "CREATE OR REPLACE FUNCTION label(item v_item) RETURNS text LANGUAGE sql STABLE AS 'SELECT item.name';\n\
                 CREATE OR REPLACE FUNCTION rename(id int, name text) RETURNS int LANGUAGE sql AS 'UPDATE tb_item SET name = $2 WHERE id = $1 RETURNING id';",
            ),
            (
                "db/schema/030_policies.sql",
                "ALTER TABLE tb_item ENABLE ROW LEVEL SECURITY;\nDROP POLICY IF EXISTS priced ON tb_item;\n\
                 CREATE POLICY priced ON tb_item USING (price > 0);",
            ),
            (
                "db/schema/090_grants.sql",
                "GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC;",
            ),
        ],
    ),
    (
        "a column is added at the end of a view",
        &[
            (
                "db/migrations/002.sql",
                "ALTER TABLE tb_item ADD COLUMN channel text NOT NULL DEFAULT 'web';",
            ),
            (
                "db/schema/010_items.sql",
                "CREATE OR REPLACE VIEW v_item AS SELECT id, name, price, state, note, channel FROM tb_item;",
            ),
        ],
    ),
    (
        "a column is added in the middle of a view",
        &[
            (
                "db/migrations/003.sql",
                "ALTER TABLE tb_item ADD COLUMN rating int;",
            ),
            (
                "db/schema/010_items.sql",
                "CREATE OR REPLACE VIEW v_item AS SELECT id, name, rating, price, state, note, channel FROM tb_item;",
            ),
        ],
    ),
    (
        "a column is renamed",
        &[
            (
                "db/migrations/004.sql",
                "ALTER TABLE tb_item RENAME COLUMN channel TO source;",
            ),
            (
                "db/schema/010_items.sql",
                "CREATE OR REPLACE VIEW v_item AS SELECT id, name, rating, price, state, note, source FROM tb_item;",
            ),
        ],
    ),
    (
        "a column that views, policies and functions read gets another type",
        &[(
            "db/migrations/005.sql",
            "ALTER TABLE tb_item ALTER COLUMN price TYPE numeric(12, 2);",
        )],
    ),
    (
        "a column is dropped",
        &[
            (
                "db/migrations/006.sql",
                "ALTER TABLE tb_item DROP COLUMN note;",
            ),
            (
                "db/schema/010_items.sql",
                "CREATE OR REPLACE VIEW v_item AS SELECT id, name, rating, price, state, source FROM tb_item;",
            ),
        ],
    ),
    (
        "a table comes with its view and its policy",
        &[
            (
                "db/migrations/007.sql",
                "CREATE TABLE tb_tag (id int PRIMARY KEY, owner text NOT NULL, word text);",
            ),
            (
                "db/schema/040_tags.sql",
                "CREATE OR REPLACE VIEW v_tag WITH (security_invoker = true) AS SELECT * FROM tb_tag;\n\
                 ALTER TABLE tb_tag ENABLE ROW LEVEL SECURITY;\nDROP POLICY IF EXISTS own ON tb_tag;\n\
                 CREATE POLICY own ON tb_tag USING (owner = current_user);",
            ),
        ],
    ),
    (
        "a function takes another argument",
        &[(
            "db/schema/020_functions.sql",
            "CREATE OR REPLACE FUNCTION label(item v_item) RETURNS text LANGUAGE sql STABLE AS 'SELECT item.name';\n\
             CREATE OR REPLACE FUNCTION rename(id int, name text, why text) RETURNS int LANGUAGE sql AS 'UPDATE tb_item SET name = $2 WHERE id = $1 RETURNING id';",
        )],
    ),
    (
        "functions give another type and name a parameter otherwise",
        &[(
            "db/schema/020_functions.sql",
            "CREATE OR REPLACE FUNCTION label(item v_item) RETURNS varchar LANGUAGE sql STABLE AS 'SELECT item.name::varchar';\n\
             CREATE OR REPLACE FUNCTION rename(id int, new_name text, why text) RETURNS int LANGUAGE sql AS 'UPDATE tb_item SET name = $2 WHERE id = $1 RETURNING id';",
        )],
    ),
    (
        "a view on a view, in a file that comes before",
        &[(
            "db/schema/005_cheap.sql",
            "CREATE OR REPLACE VIEW v_cheap AS SELECT id, name, label(v_item) AS label FROM v_item WHERE price < 10;",
        )],
    ),
    (
        "the view below it changes",
        &[(
            "db/schema/010_items.sql",
            "CREATE OR REPLACE VIEW v_item AS SELECT name, id, rating, price, state FROM tb_item;",
        )],
    ),
    (
        "a label of an enum, and a view that uses it",
        &[
            (
                "db/migrations/008.sql",
                "ALTER TYPE status ADD VALUE 'gone' BEFORE 'done';",
            ),
            (
                "db/schema/045_gone.sql",
                "CREATE OR REPLACE VIEW v_gone AS SELECT id FROM tb_item WHERE state = 'gone';",
            ),
        ],
    ),
    (
        "a policy has another condition",
        &[(
            "db/schema/030_policies.sql",
            "ALTER TABLE tb_item ENABLE ROW LEVEL SECURITY;\nDROP POLICY IF EXISTS priced ON tb_item;\n\
             CREATE POLICY priced ON tb_item USING (price >= 0 AND rating > 1);",
        )],
    ),
    (
        "a policy has another name",
        &[(
            "db/schema/030_policies.sql",
            "ALTER TABLE tb_item ENABLE ROW LEVEL SECURITY;\nDROP POLICY IF EXISTS rated ON tb_item;\n\
             CREATE POLICY rated ON tb_item USING (price >= 0 AND rating > 1);",
        )],
    ),
    (
        "a materialized view, with a view on it",
        &[
            (
                "db/schema/050_totals.sql",
                "CREATE MATERIALIZED VIEW IF NOT EXISTS mv_total AS SELECT state, count(*) AS items FROM tb_item GROUP BY state;\n\
                 CREATE UNIQUE INDEX IF NOT EXISTS mv_total_state ON mv_total (state);",
            ),
            (
                "db/schema/055_total.sql",
                "CREATE OR REPLACE VIEW v_total AS SELECT * FROM mv_total;",
            ),
        ],
    ),
    (
        "the materialized view has another column",
        &[(
            "db/schema/050_totals.sql",
            "CREATE MATERIALIZED VIEW IF NOT EXISTS mv_total AS SELECT state, count(*) AS items, sum(price) AS price FROM tb_item GROUP BY state;\n\
             CREATE UNIQUE INDEX IF NOT EXISTS mv_total_state ON mv_total (state);",
        )],
    ),
    (
        "a view has another name",
        &[(
            "db/schema/015_parts.sql",
            "CREATE OR REPLACE VIEW v_piece AS SELECT id, item_id FROM tb_part;",
        )],
    ),
    (
        "a table of which a view shows all columns",
        &[(
            "db/migrations/009.sql",
            "ALTER TABLE tb_tag ADD COLUMN color text;",
        )],
    ),
    (
        "a table is renamed, with its view",
        &[
            (
                "db/migrations/010.sql",
                "ALTER TABLE tb_part RENAME TO tb_piece;",
            ),
            (
                "db/schema/015_parts.sql",
                "CREATE OR REPLACE VIEW v_piece AS SELECT id, item_id FROM tb_piece;",
            ),
        ],
    ),
    (
        "a trigger of a migration uses a function of the schema",
        &[
            (
                "db/schema/025_touch.sql",
                "CREATE OR REPLACE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';",
            ),
            (
                "db/migrations/011.sql",
                "CREATE TRIGGER touch BEFORE UPDATE ON tb_item FOR EACH ROW EXECUTE FUNCTION touch();",
            ),
        ],
    ),
    (
        "a view is gone from its file",
        &[("db/schema/005_cheap.sql", "SELECT 1;")],
    ),
    (
        "a table is gone, and the file of its view",
        &[
            ("db/migrations/012.sql", "DROP TABLE tb_tag;"),
            ("db/schema/040_tags.sql", ""),
        ],
    ),
    (
        "a key gets another type, and what refers to it",
        &[(
            "db/migrations/013.sql",
            "ALTER TABLE tb_piece DROP CONSTRAINT tb_part_item_id_fkey;\nALTER TABLE tb_item ALTER COLUMN id TYPE bigint;\n\
             ALTER TABLE tb_piece ALTER COLUMN item_id TYPE bigint;\n\
             ALTER TABLE tb_piece ADD CONSTRAINT item FOREIGN KEY (item_id) REFERENCES tb_item;",
        )],
    ),
];

/// Makes a change of the files.
fn change(place: &Place, (_, files): &Change) {
    for (path, text) in *files {
        match *text {
            "" => std::fs::remove_file(place.path(path)).expect("the file"),
            text => place.write(path, text),
        }
    }
}

/// The schema of a database, as `pg_dump` writes it.
fn dump(place: &Place) -> String {
    let arguments = [
        "--schema-only",
        "--no-owner",
        "--exclude-schema=svc_history",
    ];
    let output = Command::new("pg_dump")
        .args(arguments)
        .arg(place.url())
        .output()
        .expect("pg_dump");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).expect("text");
    // A key of each dump.
    text.lines()
        .filter(|line| !line.starts_with("\\restrict") && !line.starts_with("\\unrestrict"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The first lines that differ.
fn difference(one: &str, other: &str) -> String {
    let differing = |a: &str, b: &str| {
        let lines: std::collections::HashSet<&str> = b.lines().collect();
        a.lines()
            .filter(|line| !lines.contains(line))
            .take(12)
            .collect::<Vec<_>>()
            .join("\n")
    };
    format!(
        "only here:\n{}\nonly there:\n{}",
        differing(one, other),
        differing(other, one)
    )
}

#[test]
fn all_databases_end_equal_after_each_change() {
    let (developer, production) = (project(), project());
    for (number, one) in CHANGES.iter().enumerate() {
        change(&developer, one);
        change(&production, one);
        let said = developer.svc(&["migrate", "up"]);
        assert_eq!(said.code, Some(0), "{}: {}", one.0, said.err);
        let empty = project();
        CHANGES[..=number]
            .iter()
            .for_each(|one| change(&empty, one));
        let said = empty.svc(&["migrate", "up"]);
        assert_eq!(
            said.code,
            Some(0),
            "{} on an empty database: {}",
            one.0,
            said.err
        );
        let (here, there) = (dump(&developer), dump(&empty));
        assert_eq!(here, there, "{}: {}", one.0, difference(&here, &there));
        if number % 3 == 0 || number + 1 == CHANGES.len() {
            let said = production.svc(&["migrate", "up"]);
            assert_eq!(
                said.code,
                Some(0),
                "{} two releases later: {}",
                one.0,
                said.err
            );
            let there = dump(&production);
            assert_eq!(
                here,
                there,
                "{} two releases later: {}",
                one.0,
                difference(&here, &there)
            );
        }
    }
    assert!(
        developer
            .svc(&["migrate", "check", "--strict"])
            .err
            .contains("the database matches the files")
    );
}

#[test]
fn a_database_that_has_missed_everything_ends_equal() {
    let (late, empty) = (project(), project());
    change(&late, &CHANGES[0]);
    late.svc(&["migrate", "up"]).good();
    for one in CHANGES {
        if one.0 != CHANGES[0].0 {
            change(&late, one);
        }
        change(&empty, one);
    }
    late.svc(&["migrate", "up"]).good();
    empty.svc(&["migrate", "up"]).good();
    let (here, there) = (dump(&late), dump(&empty));
    assert_eq!(here, there, "{}", difference(&here, &there));
}
