//! `svc migrate up`, with `status` and `repair` after it.

use std::process::Stdio;

use super::with_files;
use crate::database::project;
use crate::support::{command, said};

#[test]
fn files_are_applied_once_and_changed_schema_files_again() {
    let place = with_files();
    let first = place.svc(&["migrate", "up"]);
    assert!(first.err.ends_with("applied 3 files\n"), "{}", first.err);
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
    assert!(place.svc(&["migrate", "up"]).err.contains("applied 1 file"));
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
    assert!(words.contains("hint: this file changed nothing"), "{words}");
    assert_eq!(
        place.ask("SELECT to_regclass('c') IS NULL, count(*) FROM svc_history.migrations"),
        "t|2"
    );
    place.write("db/migrations/2_c.sql", "CREATE TABLE c (x int);\n");
    assert!(
        place
            .svc(&["migrate", "up"])
            .err
            .contains("applied 2 files")
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
            .contains("was recorded in its current version")
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
fn a_role_that_a_file_sets_ends_with_the_file() {
    let place = project();
    place.ask("CREATE ROLE maker_of_a; GRANT CREATE, USAGE ON SCHEMA public TO maker_of_a");
    for (path, text) in [
        (
            "db/migrations/1_a.sql",
            "SET ROLE maker_of_a; CREATE TABLE a (x int);",
        ),
        (
            "db/migrations/2_b.sql",
            "SET SESSION AUTHORIZATION maker_of_a; CREATE TABLE b (x int);",
        ),
        (
            "db/migrations/3_c.sql",
            "-- svc: no transaction\nSET ROLE maker_of_a;\nCREATE TABLE c (x int);",
        ),
        (
            "db/schema/010_d.sql",
            "CREATE TABLE IF NOT EXISTS d (x int); SET ROLE maker_of_a;",
        ),
        ("db/seeds/1_d.sql", "SET ROLE maker_of_a;"),
        ("db/seeds/2_d.sql", "INSERT INTO d VALUES (1);"),
    ] {
        place.write(path, text);
    }
    place.svc(&["migrate", "up"]).good();
    place.svc(&["db", "seed"]).good();
    let owners = "SELECT string_agg(tableowner, ',' ORDER BY tablename) FROM pg_tables WHERE tablename ~ '^[a-d]$'";
    assert_eq!(
        place.ask(owners),
        "maker_of_a,maker_of_a,maker_of_a,postgres"
    );
    assert_eq!(place.ask("SELECT x FROM d"), "1");
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
fn an_interrupted_file_without_a_transaction_is_not_rerun_unasked() {
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
fn concurrent_runs_apply_each_file_once() {
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
        all.contains("applied 9 files") && all.contains("the database is up to date"),
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
