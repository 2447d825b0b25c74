//! `svc migrate`.

use std::process::Stdio;

use crate::database::project;
use crate::support::{Place, command, said};

/// A project with a table, a migration and a view.
fn with_files() -> Place {
    let place = project();
    place.write("db/migrations/0_a.sql", "CREATE TABLE a (x int);");
    place.write("db/migrations/1_b.sql", "ALTER TABLE a ADD COLUMN y int;");
    place.write(
        "db/schema/001_a.sql",
        "CREATE OR REPLACE VIEW v_a AS SELECT x FROM a;",
    );
    place
}

#[test]
fn files_are_applied_once_and_changed_schema_files_again() {
    let place = with_files();
    let first = place.svc(&["migrate", "up"]);
    assert!(
        first.err.ends_with("3 files are applied\n"),
        "{}",
        first.err
    );
    let status = place.svc(&["migrate", "status"]).good();
    assert_eq!(status.matches("  applied  ").count(), 3, "{status}");
    assert!(
        place
            .svc(&["migrate", "up"])
            .err
            .contains("the database is up to date")
    );

    place.write(
        "db/schema/001_a.sql",
        "CREATE OR REPLACE VIEW v_a AS SELECT x, y FROM a;",
    );
    let status = place.svc(&["migrate", "status"]).good();
    assert!(
        status.contains("db/schema/001_a.sql    changed"),
        "{status}"
    );
    assert!(
        place
            .svc(&["migrate", "up"])
            .err
            .contains("1 file is applied")
    );
    place.ask("SELECT y FROM v_a");
    let json = place.svc(&["migrate", "status", "--json"]).good();
    assert!(json.contains("\"state\": \"applied\""), "{json}");
}

#[test]
fn a_file_that_fails_leaves_nothing_and_names_its_line() {
    let place = with_files();
    place.write(
        "db/migrations/2_c.sql",
        "CREATE TABLE c (x int);\n\nALTER TABLE a\n  ADD COLUMN z nope;\n",
    );
    let words = place.svc(&["migrate", "up"]).bad();
    assert!(
        words.contains("error: db/migrations/2_c.sql:4: type \"nope\" does not exist"),
        "{words}"
    );
    assert!(
        words.contains("hint: nothing of this file is done"),
        "{words}"
    );
    assert_eq!(
        place.ask("SELECT to_regclass('c') IS NULL, count(*) FROM svc_history.migrations"),
        "t|2"
    );
    place.write("db/migrations/2_c.sql", "CREATE TABLE c (x int);\n");
    assert!(
        place
            .svc(&["migrate", "up"])
            .err
            .contains("2 files are applied")
    );
}

#[test]
fn a_migration_that_has_changed_is_refused_until_it_is_repaired() {
    let place = with_files();
    place.svc(&["migrate", "up"]).good();
    place.write(
        "db/migrations/1_b.sql",
        "ALTER TABLE a ADD COLUMN y int;\r\n",
    );
    for command in ["up", "check"] {
        let said = place.svc(&["migrate", command]);
        assert_eq!(said.code, Some(1), "{}", said.err);
        assert!(
            said.err
                .contains("db/migrations/1_b.sql has changed since this database ran it"),
            "{}",
            said.err
        );
    }
    assert!(
        place
            .svc(&["migrate", "repair"])
            .err
            .contains("is recorded as it is now")
    );
    assert!(
        place
            .svc(&["migrate", "up"])
            .err
            .contains("the database is up to date")
    );
}

#[test]
fn ends_of_lines_are_no_change() {
    let place = with_files();
    place.write("db/migrations/2_c.sql", "SELECT 1;\nSELECT 2;\n");
    place.svc(&["migrate", "up"]).good();
    place.write("db/migrations/2_c.sql", "SELECT 1;\r\nSELECT 2;\r\n");
    assert!(
        place
            .svc(&["migrate", "up"])
            .err
            .contains("the database is up to date")
    );
}

#[test]
fn an_index_can_be_made_concurrently() {
    let place = with_files();
    let index =
        "CREATE INDEX CONCURRENTLY a_x ON a (x);\nCREATE INDEX CONCURRENTLY a_y ON a (y);\n";
    place.write("db/migrations/2_c.sql", index);
    let words = place.svc(&["migrate", "up"]).bad();
    assert!(
        words.contains("db/migrations/2_c.sql:1: CONCURRENTLY does not work in a transaction"),
        "{words}"
    );
    place.write(
        "db/migrations/2_c.sql",
        &format!("-- svc: no transaction\n{index}"),
    );
    place.svc(&["migrate", "up"]).good();
    assert_eq!(
        place.ask("SELECT count(*) FROM pg_indexes WHERE tablename = 'a'"),
        "2"
    );
}

#[test]
fn what_was_interrupted_outside_of_a_transaction_is_not_run_again_unasked() {
    let place = with_files();
    place.write(
        "db/migrations/2_c.sql",
        "-- svc: no transaction\nCREATE TABLE c (x int);\nSELECT 1 / 0;",
    );
    let words = place.svc(&["migrate", "up"]).bad();
    assert!(
        words.contains("db/migrations/2_c.sql:3: division by zero"),
        "{words}"
    );
    assert!(
        place
            .svc(&["migrate", "up"])
            .bad()
            .contains("was interrupted outside of a transaction")
    );
    assert!(
        place
            .svc(&["migrate", "status"])
            .good()
            .contains("interrupted")
    );
    place.write(
        "db/migrations/2_c.sql",
        "-- svc: no transaction\nCREATE TABLE IF NOT EXISTS c (x int);",
    );
    assert!(
        place
            .svc(&["migrate", "repair"])
            .err
            .contains("db/migrations/2_c.sql will run again")
    );
    place.svc(&["migrate", "up"]).good();
}

#[test]
fn two_at_once_apply_each_file_once() {
    let place = project();
    for number in 1..=9 {
        place.write(
            &format!("db/migrations/{number}_t.sql"),
            &format!("SELECT pg_sleep(0.05); CREATE TABLE t{number} ()"),
        );
    }
    let up = || {
        let mut command = command(&place.path("."));
        command
            .args(["migrate", "up"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary")
    };
    let ends = [up(), up()].map(|child| said(child.wait_with_output().expect("its end")));
    let all: String = ends.iter().map(|said| said.err.as_str()).collect();
    assert!(ends.iter().all(|said| said.code == Some(0)), "{all}");
    assert!(
        all.contains("9 files are applied") && all.contains("the database is up to date"),
        "{all}"
    );
}

#[test]
fn a_killed_run_is_completed_by_the_next() {
    let place = project();
    for number in 1..=20 {
        let sql = format!(
            "CREATE TABLE t{number} (x int); SELECT pg_sleep(0.03); INSERT INTO t{number} VALUES (1)"
        );
        place.write(&format!("db/migrations/{number}_t.sql"), &sql);
    }
    let mut applied = 0;
    while applied < 20 {
        let mut child = command(&place.path("."))
            .args(["migrate", "up"])
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary");
        // At another moment of the work each time: after the next file that is recorded, or within
        // it.
        while child.try_wait().expect("its state").is_none() {
            let now: u32 = place
                .ask("SELECT count(*) FROM pg_tables WHERE tablename ~ '^t[0-9]+$'")
                .parse()
                .expect("a number");
            if now > applied {
                applied = now;
                break;
            }
        }
        // It may have ended by itself.
        let _ = child.kill();
        child.wait().expect("its end");
    }
    place.svc(&["migrate", "up"]).good();
    assert_eq!(
        place.ask("SELECT count(*) FROM svc_history.migrations WHERE finished"),
        "20"
    );
    let rows = "SELECT sum((xpath('/row/c/text()', query_to_xml('SELECT count(*) AS c FROM ' || tablename, false, true, '')))[1]::text::int) \
        FROM pg_tables WHERE tablename ~ '^t[0-9]+$'";
    assert_eq!(place.ask(rows), "20");
}

#[test]
fn check_finds_mistakes_without_a_trace() {
    let place = with_files();
    assert!(
        place
            .svc(&["migrate", "check"])
            .err
            .contains("3 pending files run")
    );
    assert_eq!(
        place.ask("SELECT to_regclass('a') IS NULL, to_regclass('svc_history.migrations') IS NULL"),
        "t|t"
    );
    for (file, text, message) in [
        (
            "2_c.sql",
            "SELECT nope",
            "db/migrations/2_c.sql:1: column \"nope\" does not exist",
        ),
        (
            "2_c.sql",
            "SELECT 1;\nCOMMIT;",
            "db/migrations/2_c.sql:2: `COMMIT` would end the transaction of the file",
        ),
        ("2_c.sql", "SELECT 1", ""),
        ("02_d.sql", "SELECT 1", "have the same number"),
    ] {
        place.write(&format!("db/migrations/{file}"), text);
        let said = place.svc(&["migrate", "check"]);
        assert!(said.err.contains(message), "{}", said.err);
        assert_eq!(
            said.code,
            Some(i32::from(!message.is_empty())),
            "{}",
            said.err
        );
    }
}

#[test]
fn a_database_that_exists_is_taken_as_it_is() {
    let place = with_files();
    place.ask("CREATE TABLE a (x int, y int)");
    place.svc(&["migrate", "baseline"]).bad();
    place
        .svc(&["migrate", "baseline", "--confirm", &place.database()])
        .good();
    assert!(
        place
            .svc(&["migrate", "up"])
            .err
            .contains("the database is up to date")
    );
    std::fs::remove_file(place.path("db/migrations/1_b.sql")).expect("the file");
    assert!(
        place
            .svc(&["migrate", "up"])
            .err
            .contains("warning: the database has db/migrations/1_b.sql")
    );
    assert!(
        place
            .svc(&["migrate", "repair"])
            .err
            .contains("is forgotten")
    );
}

#[test]
fn a_new_migration_has_a_time_and_a_name() {
    let place = project();
    let path = place.svc(&["migrate", "new", "Add stock!"]).good();
    let name = path
        .trim()
        .strip_prefix("db/migrations/")
        .expect("its folder");
    assert!(
        name.ends_with("_add_stock.sql") && name[..14].bytes().all(|digit| digit.is_ascii_digit()),
        "{name}"
    );
    place.svc(&["migrate", "up"]).good();
    assert!(
        place
            .svc(&["migrate", "new", "!"])
            .misused()
            .contains("hint: say in a few words")
    );
}

#[test]
fn dangerous_locks_and_lost_views_are_told_before_they_happen() {
    let place = with_files();
    place.svc(&["migrate", "up"]).good();
    let check = |arguments: &[&str]| place.svc(&[&["migrate", "check"], arguments].concat());
    assert_eq!(check(&["--strict"]).code, Some(0));
    for (sql, rule) in [
        (
            "CREATE INDEX a_x ON a (x);",
            "require-concurrent-index-creation",
        ),
        (
            "ALTER TABLE a ALTER COLUMN y TYPE bigint;",
            "changing-column-type",
        ),
        (
            "ALTER TABLE a ADD COLUMN z int NOT NULL;",
            "adding-required-field",
        ),
        (
            "ALTER TABLE a ADD CONSTRAINT c CHECK (x > 0);",
            "constraint-missing-not-valid",
        ),
        ("ALTER TABLE a RENAME COLUMN y TO z;", "renaming-column"),
        ("ALTER TABLE a DROP COLUMN y;", "ban-drop-column"),
    ] {
        place.write("db/migrations/2_c.sql", &format!("-- why\n\n{sql}\n"));
        let said = check(&[]);
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert!(
            said.err.contains("warning: db/migrations/2_c.sql:3: "),
            "{sql}: {}",
            said.err
        );
        assert!(
            said.err.contains(&format!("({rule})")),
            "{sql}: {}",
            said.err
        );
        assert!(
            check(&["--strict"])
                .bad()
                .contains("hint: change the files as they say"),
            "{sql}"
        );
        place.write(
            "db/migrations/2_c.sql",
            &format!("-- squawk-ignore {rule}\n{sql}\n"),
        );
        assert_eq!(
            check(&["--strict"]).code,
            Some(0),
            "{sql}: {}",
            check(&["--strict"]).err
        );
    }
    std::fs::remove_file(place.path("db/migrations/2_c.sql")).expect("the file");
    place.write(
        "db/schema/001_a.sql",
        "CREATE OR REPLACE VIEW v_a AS SELECT 'a' AS x FROM a;",
    );
    assert!(
        check(&["--strict"])
            .bad()
            .contains("the column `x` of public.v_a would be text; it is integer")
    );
    place.write("db/schema/001_a.sql", "SELECT 1;");
    let said = check(&["--strict"]);
    assert!(
        said.err
            .contains("warning: public.v_a would be gone, which a service that runs may read"),
        "{}",
        said.err
    );
    assert!(
        said.err.contains("error: there is 1 warning\n"),
        "{}",
        said.err
    );
    assert_eq!(place.ask("SELECT to_regclass('v_a') IS NOT NULL"), "t");
}

#[test]
fn the_history_of_sqlx_is_taken_over() {
    let place = project();
    let (first, second) = ("CREATE TABLE a (x int);\n", "CREATE TABLE b (x int);\r\n");
    place.write("db/migrations/1_a.sql", first);
    place.write("db/migrations/2_b.sql", second);
    place.write("db/migrations/3_c.sql", "CREATE TABLE c (x int);");
    let import = || {
        place.svc(&[
            "migrate",
            "baseline",
            "--from-sqlx",
            "--confirm",
            &place.database(),
        ])
    };
    assert!(
        import()
            .bad()
            .contains("the database has no table _sqlx_migrations")
    );
    place.ask(
        "CREATE TABLE _sqlx_migrations (version bigint PRIMARY KEY, description text NOT NULL, \
         installed_on timestamptz NOT NULL DEFAULT now(), success boolean NOT NULL, checksum bytea NOT NULL, \
         execution_time bigint NOT NULL)",
    );
    let run = |version: i32, text: &str, success: bool| {
        place.ask(&format!(
            "INSERT INTO _sqlx_migrations VALUES ({version}, 'a', '2024-01-0{version} 12:00Z', {success}, \
             sha384(convert_to($sql${text}$sql$, 'UTF8')), 7)"
        ))
    };
    place.ask(first);
    place.ask(second);
    run(1, first, true);
    // sqlx ran it with other ends of lines than the file has now.
    run(2, &second.replace("\r\n", "\n"), true);
    let said = import();
    assert!(
        said.err.contains("2 migrations of sqlx are recorded"),
        "{}",
        said.err
    );
    let status = place.svc(&["migrate", "status"]).good();
    assert!(
        status.contains("db/migrations/1_a.sql  applied      2024-01-01T12:00:00Z"),
        "{status}"
    );
    assert!(
        status.contains("db/migrations/3_c.sql  pending"),
        "{status}"
    );
    assert!(import().err.contains("0 migrations of sqlx are recorded"));
    assert!(
        place
            .svc(&["migrate", "up"])
            .err
            .contains("1 file is applied")
    );

    run(4, "SELECT 1", true);
    assert!(
        import()
            .bad()
            .contains("sqlx has run the migration 4, and db/migrations has no file of it")
    );
    place.write("db/migrations/4_d.sql", "SELECT 2");
    assert!(
        import()
            .bad()
            .contains("db/migrations/4_d.sql has changed since sqlx ran it")
    );
    place.ask("UPDATE _sqlx_migrations SET success = false WHERE version = 4");
    assert!(
        import()
            .bad()
            .contains("sqlx has begun db/migrations/4_d.sql and not ended it")
    );
}
