//! `svc sql`.

use crate::database::project;
use crate::support::Place;

/// A table whose names and values want quotes.
const HOSTILE: [&str; 6] = [
    "a'b",
    "a\"b",
    "x'; DROP TABLE t; --",
    "back\\slash",
    "$$",
    "ü \n",
];

fn pattern(place: &Place, arguments: &[&str]) -> String {
    place
        .svc(&[&["sql", "generate-pattern"], arguments].concat())
        .good()
}

#[test]
fn patterns_generate_the_expected_sql() {
    let place = Place::new();
    assert_eq!(
        pattern(&place, &["pagination", "v_user", "--offset", "40"]),
        "SELECT *\nFROM \"v_user\"\nORDER BY \"id\"\nLIMIT 20\nOFFSET 40;\n"
    );
    assert_eq!(
        pattern(
            &place,
            &["sorting", "app.v_user", "-o", "name:desc", "-o", "id"]
        ),
        "SELECT *\nFROM \"app\".\"v_user\"\nORDER BY \"name\" DESC, \"id\" ASC;\n"
    );
    for (arguments, hint) in [
        (&["filtering", "t"][..], "needs --where"),
        (&["filtering", "t", "-w", "a"], "`a` is not a condition"),
        (&["sorting", "t", "-o", "a:up"], "`up` is not a direction"),
        (
            &["relationship", "t", "--child-table", "u"],
            "needs --foreign-key",
        ),
        (&["aggregation", "t"], "needs --group-by"),
        (&["pagination", ""], "is not a valid name in PostgreSQL"),
    ] {
        let words = place
            .svc(&[&["sql", "generate-pattern"], arguments].concat())
            .misused();
        assert!(words.contains(hint), "{words}");
    }
}

#[test]
fn patterns_run_with_any_names_and_values() {
    let place = project();
    for (number, name) in HOSTILE.iter().enumerate() {
        let quoted = format!("\"{}\"", name.replace('"', "\"\""));
        let table = format!("t{number}");
        place.ask(&format!(
            "CREATE TABLE {table} (id int, {quoted} text); CREATE TABLE c{number} (id int, {quoted} int)"
        ));
        place.ask(&format!(
            "INSERT INTO {table} VALUES (1, $hostile${name}$hostile$); INSERT INTO c{number} VALUES (7, 1)"
        ));
        let condition = format!("{name}={name}");
        let found = pattern(&place, &["filtering", &table, "-w", &condition]);
        assert!(place.ask(&found).starts_with("1|"), "{found}");
        for backslashes in ["on", "off"] {
            let counted = place.ask(&format!(
                "SET standard_conforming_strings = {backslashes}; {found}"
            ));
            assert!(counted.contains("1|"), "{found}");
        }
        place.ask(&pattern(
            &place,
            &["sorting", &table, "-o", &format!("{name}:asc")],
        ));
        place.ask(&pattern(
            &place,
            &["aggregation", &table, "--group-by", name],
        ));
        let child = format!("c{number}");
        let related = pattern(
            &place,
            &[
                "relationship",
                &table,
                "--child-table",
                &child,
                "--foreign-key",
                name,
            ],
        );
        assert!(place.ask(&related).contains("\"id\": 7"), "{related}");
    }
}

#[test]
fn a_view_is_validated_on_the_database_and_undone() {
    let place = project();
    place.write(
        "good.sql",
        "CREATE VIEW v_a AS SELECT 1 AS id, jsonb_build_object('id', 1) AS data;",
    );
    let said = place.svc(&["sql", "validate", "good.sql"]).good();
    assert_eq!(said.matches("ok: ").count(), 5, "{said}");
    place.write(
        "good.sql",
        "CREATE VIEW v_a WITH (security_invoker = true) AS SELECT 1 AS id, 'x' AS name;",
    );
    let said = place.svc(&["sql", "validate", "good.sql"]).good();
    assert!(
        said.contains("ok: v_a has 2 columns\n") && !said.contains("issue: "),
        "columns alone do: {said}"
    );
    assert_eq!(place.ask("SELECT to_regclass('v_a') IS NULL"), "t");
    for (sql, issue) in [
        (
            "CREATE VIEW v_a AS SELECT 1 AS id, '{}'::json AS data",
            "issue: v_a has a column `data` of the type json",
        ),
        (
            "CREATE VIEW v_a AS SELECT '{}'::jsonb AS data",
            "issue: v_a has no column `id`",
        ),
        ("SELECT 1", "issue: the file creates no view"),
    ] {
        place.write("bad.sql", sql);
        let said = place.svc(&["sql", "validate", "bad.sql"]);
        assert_eq!(said.code, Some(1), "{}", said.err);
        assert!(said.out.contains(issue), "{}", said.out);
    }
    place.ask("CREATE VIEW v_b AS SELECT 1 AS id, '{}'::jsonb AS data");
    place.write(
        "good.sql",
        "CREATE OR REPLACE VIEW v_b AS SELECT 2 AS id, '{}'::jsonb AS data",
    );
    assert!(
        place
            .svc(&["sql", "validate", "good.sql"])
            .good()
            .contains("ok: v_b has JSONB in its column `data`")
    );
    place.write("bad.sql", "SELECT 1;\nSELECT nope;");
    assert!(
        place
            .svc(&["sql", "validate", "bad.sql"])
            .bad()
            .contains("bad.sql:2: column \"nope\" does not exist")
    );
    for command in ["COMMIT", "PREPARE TRANSACTION"] {
        place.write(
            "bad.sql",
            &format!("CREATE VIEW v_a AS SELECT 1;\n{command} /* x */ 'x';"),
        );
        let words = place.svc(&["sql", "validate", "bad.sql"]).bad();
        assert!(
            words.contains(&format!("bad.sql:2: `{command}` would end the transaction")),
            "{words}"
        );
    }

    // The file and a database are all that it takes.
    let elsewhere = Place::new();
    elsewhere.write("good.sql", "CREATE VIEW v_a AS SELECT 1 AS id");
    let mut bare = crate::support::command(&elsewhere.path("."));
    let output = bare
        .args(["sql", "validate", "good.sql"])
        .env("SVC_DATABASE_URL", place.url())
        .output();
    crate::support::said(output.expect("the binary")).good();
}

#[test]
fn a_file_is_validated_outside_of_a_project() {
    let (place, outside) = (project(), Place::new());
    outside.write(
        "good.sql",
        "CREATE VIEW v_x AS SELECT 1 AS id, '{}'::jsonb AS data;",
    );
    let mut command = crate::support::command(&outside.path("."));
    command
        .args(["sql", "validate", "good.sql"])
        .env("SVC_DATABASE_URL", place.url());
    let out = crate::support::said(command.output().expect("the binary")).good();
    assert!(out.contains("ok: "), "{out}");
}
