//! The order of files, and files that stand in each other's way.

use crate::database::project;
use crate::support::Place;

/// A project whose view reads what its second migration adds.
fn with_view() -> Place {
    let place = project();
    place.write("db/migrations/1_a.sql", "CREATE TABLE tb_a (x int, y int);");
    place.write(
        "db/schema/010_a.sql",
        "CREATE OR REPLACE VIEW v_a AS SELECT x, y FROM tb_a;",
    );
    place
}

#[test]
fn migrations_run_before_the_views_that_read_them() {
    let place = with_view();
    place.write(
        "db/migrations/2_b.sql",
        "ALTER TABLE tb_a ADD COLUMN z int;",
    );
    place.write(
        "db/schema/010_a.sql",
        "CREATE OR REPLACE VIEW v_a AS SELECT x, y, z FROM tb_a;",
    );
    assert!(
        place
            .svc(&["migrate", "up"])
            .err
            .contains("applied 3 files")
    );
    place.ask("SELECT z FROM v_a");
}

#[test]
fn files_of_the_schema_run_after_their_dependencies() {
    let place = with_view();
    place.write(
        "db/schema/001_top.sql",
        "CREATE OR REPLACE VIEW v_top AS SELECT f(x) AS x FROM v_a;",
    );
    place.write(
        "db/schema/020_f.sql",
        "CREATE OR REPLACE FUNCTION f(x int) RETURNS int LANGUAGE sql RETURN x + 1;",
    );
    place.svc(&["migrate", "up"]).good();
    place.ask("SELECT x FROM v_top");

    let other = with_view();
    other.write(
        "db/schema/001_b.sql",
        "CREATE OR REPLACE VIEW v_b AS SELECT x FROM v_c;",
    );
    other.write(
        "db/schema/002_c.sql",
        "CREATE OR REPLACE VIEW v_c AS SELECT x FROM v_b;",
    );
    let words = other.svc(&["migrate", "up"]).bad();
    assert!(
        words.contains("error: db/schema/001_b.sql:1: relation \"v_c\" does not exist"),
        "{words}"
    );
    assert!(
        words.contains("so does db/schema/002_c.sql:1: relation \"v_b\" does not exist"),
        "{words}"
    );
    assert!(words.contains("or these files need each other"), "{words}");
    assert_eq!(
        other.ask("SELECT to_regclass('v_a') IS NULL, to_regclass('tb_a') IS NULL"),
        "t|f"
    );
}

#[test]
fn a_migration_may_use_a_function_of_the_schema() {
    let place = with_view();
    place.write(
        "db/schema/005_touch.sql",
        "CREATE OR REPLACE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';",
    );
    place.write(
        "db/migrations/2_b.sql",
        "CREATE TRIGGER touch BEFORE UPDATE ON tb_a FOR EACH ROW EXECUTE FUNCTION touch();",
    );
    place.svc(&["migrate", "up"]).good();
    assert_eq!(
        place.ask("SELECT count(*) FROM pg_trigger WHERE tgname = 'touch'"),
        "1"
    );
}

#[test]
fn recreated_views_keep_their_grants_comments_and_options() {
    let place = with_view();
    place.svc(&["migrate", "up"]).good();
    place.ask("CREATE ROLE reader_of_a; GRANT SELECT ON v_a TO reader_of_a; COMMENT ON VIEW v_a IS 'rows of a'");
    place.write(
        "db/schema/020_b.sql",
        "CREATE OR REPLACE VIEW v_b WITH (security_invoker) AS SELECT x FROM v_a;",
    );
    place.write(
        "db/schema/030_f.sql",
        "CREATE OR REPLACE FUNCTION f(a v_a) RETURNS int LANGUAGE sql STABLE RETURN a.x;",
    );
    place.svc(&["migrate", "up"]).good();
    // A migration that PostgreSQL refuses while views read the column.
    place.write(
        "db/migrations/2_b.sql",
        "ALTER TABLE tb_a ALTER COLUMN x TYPE bigint;",
    );
    place.svc(&["migrate", "up"]).good();
    // A function that gives another type.
    place.write(
        "db/schema/030_f.sql",
        "CREATE OR REPLACE FUNCTION f(a v_a) RETURNS bigint LANGUAGE sql STABLE RETURN a.x;",
    );
    place.svc(&["migrate", "up"]).good();
    // A view whose columns change places.
    place.write(
        "db/schema/010_a.sql",
        "CREATE OR REPLACE VIEW v_a AS SELECT y, x FROM tb_a;",
    );
    place.svc(&["migrate", "up"]).good();
    let facts = "SELECT has_table_privilege('reader_of_a', 'v_a', 'SELECT'), obj_description('v_a'::regclass), \
        (SELECT reloptions FROM pg_class WHERE relname = 'v_b'), (SELECT pg_typeof(f(v_a)) FROM v_a RIGHT JOIN (SELECT 1) o ON true), \
        (SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'v_a'::regclass)";
    assert_eq!(
        place.ask(facts),
        "t|rows of a|{security_invoker=true}|bigint|y,x"
    );
}

#[test]
fn a_comment_is_restored_with_any_text() {
    let place = with_view();
    place.svc(&["migrate", "up"]).good();
    let comment = "END $svc$; it's \\ $svc_$ %s";
    place.ask(&format!(
        "COMMENT ON VIEW v_a IS '{}'",
        comment.replace('\'', "''")
    ));
    place.write(
        "db/schema/010_a.sql",
        "CREATE OR REPLACE VIEW v_a AS SELECT y, x FROM tb_a;",
    );
    place.svc(&["migrate", "up"]).good();
    assert_eq!(
        place.ask("SELECT obj_description('v_a'::regclass)"),
        comment
    );
}

#[test]
fn policies_and_triggers_can_be_made_again() {
    let place = with_view();
    let file = |condition: &str| {
        format!(
            "CREATE POLICY own ON tb_a USING ({condition});\nCREATE OR REPLACE FUNCTION t() RETURNS trigger LANGUAGE plpgsql \
             AS 'BEGIN RETURN NEW; END';\nCREATE TRIGGER t BEFORE UPDATE ON tb_a FOR EACH ROW EXECUTE FUNCTION t();"
        )
    };
    place.write("db/schema/020_policies.sql", &file("x > 0"));
    place.svc(&["migrate", "up"]).good();
    place.write("db/schema/020_policies.sql", &file("x > 1"));
    place.svc(&["migrate", "up"]).good();
    assert_eq!(
        place.ask("SELECT pg_get_expr(polqual, polrelid) FROM pg_policy"),
        "(x > 1)"
    );
    // What a file no longer makes is gone, unless the database is ahead of the project.
    place.write("db/migrations/2_b.sql", "SELECT 1;");
    place.svc(&["migrate", "up"]).good();
    std::fs::remove_file(place.path("db/migrations/2_b.sql")).expect("the file");
    place.write("db/schema/020_policies.sql", "SELECT 1;");
    place.svc(&["migrate", "up"]).good();
    assert_eq!(place.ask("SELECT count(*) FROM pg_policy"), "1");
    place.svc(&["migrate", "repair"]).good();
    place.write("db/schema/020_policies.sql", "SELECT 2;");
    place.svc(&["migrate", "up"]).good();
    assert_eq!(
        place.ask("SELECT (SELECT count(*) FROM pg_policy), (SELECT count(*) FROM pg_trigger WHERE tgname = 't')"),
        "0|0"
    );
}

#[test]
fn dependents_without_a_file_are_named_and_nothing_runs() {
    let place = with_view();
    place.svc(&["migrate", "up"]).good();
    place.ask("CREATE VIEW report AS SELECT x FROM v_a");
    place.write("db/migrations/2_b.sql", "ALTER TABLE tb_a DROP COLUMN x;");
    place.write(
        "db/schema/010_a.sql",
        "CREATE OR REPLACE VIEW v_a AS SELECT y FROM tb_a;",
    );
    let words = place.svc(&["migrate", "up"]).bad();
    assert!(
        words.contains("no file of db/schema creates them again: view public.report"),
        "{words}"
    );
    place.ask("SELECT x FROM report");
    assert_eq!(
        place.ask("SELECT count(*) FROM svc_history.migrations"),
        "2"
    );
}

#[test]
fn a_migration_without_a_statement_is_not_run() {
    let place = with_view();
    place.svc(&["migrate", "up"]).good();
    let path = place.svc(&["migrate", "new", "add_z"]).good();
    let said = place.svc(&["migrate", "up"]);
    assert!(
        said.err
            .contains("_add_z.sql has no statements yet, so it was not run"),
        "{}",
        said.err
    );
    assert!(
        place
            .svc(&["migrate", "status"])
            .good()
            .contains("_add_z.sql  pending")
    );
    place.write(path.trim(), "ALTER TABLE tb_a ADD COLUMN z int;");
    assert!(place.svc(&["migrate", "up"]).err.contains("applied 1 file"));
    place.ask("SELECT z FROM tb_a");
}

#[test]
fn repair_refuses_unapplied_changes_and_runs_nothing() {
    let place = with_view();
    place.write("db/migrations/2_b.sql", "SELECT 1;");
    place.svc(&["migrate", "up"]).good();
    place.write(
        "db/migrations/2_b.sql",
        "ALTER TABLE tb_a ADD COLUMN rating int;",
    );
    let words = place.svc(&["migrate", "repair"]).bad();
    assert!(
        words.contains(
            "the database does not match the current version of db/migrations/2_b.sql: it lacks the column public.tb_a.rating"
        ),
        "{words}"
    );
    assert!(words.contains("hint: repair runs no files"), "{words}");
    place.ask("ALTER TABLE tb_a ADD COLUMN rating int");
    assert!(
        place
            .svc(&["migrate", "repair"])
            .err
            .contains("was recorded in its current version, but not run")
    );
    assert_eq!(place.ask("SELECT count(*) FROM pg_database WHERE datname LIKE 'svc_shadow_%' AND datname LIKE '%_' || pg_backend_pid()"), "0");
}

#[test]
fn repair_leaves_the_objects_of_a_deleted_file_to_the_next_run() {
    let place = with_view();
    place.write(
        "db/schema/020_b.sql",
        "CREATE OR REPLACE VIEW v_b AS SELECT x FROM v_a;",
    );
    place.svc(&["migrate", "up"]).good();
    std::fs::remove_file(place.path("db/schema/020_b.sql")).expect("the file");
    let said = place.svc(&["migrate", "repair"]);
    assert!(
        said.err.contains(
            "db/schema/020_b.sql was deleted; the next `svc migrate up` drops its objects"
        ),
        "{}",
        said.err
    );
    assert_eq!(place.ask("SELECT to_regclass('v_b') IS NULL"), "f");
    place.svc(&["migrate", "up"]).good();
    let left = "SELECT to_regclass('v_b') IS NULL, (SELECT count(*) FROM svc_history.objects WHERE path ~ '020'), \
        (SELECT count(*) FROM svc_history.migrations WHERE path ~ '020')";
    assert_eq!(place.ask(left), "t|0|0");
}

#[test]
fn check_replays_all_files_on_an_empty_database() {
    let place = with_view();
    place.svc(&["migrate", "up"]).good();
    let said = place.svc(&["migrate", "check", "--strict"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(
        said.err.contains("the database matches the files"),
        "{}",
        said.err
    );
    place.ask("ALTER TABLE tb_a ADD COLUMN by_hand int; ALTER TABLE tb_a DROP COLUMN y CASCADE");
    let said = place.svc(&["migrate", "check", "--strict"]);
    assert!(
        said.err.contains(
            "warning: the database has the column public.tb_a.by_hand, which no file creates"
        ),
        "{}",
        said.err
    );
    assert!(
        said.err.contains(
            "warning: the database lacks the column public.tb_a.y, which the files create"
        ),
        "{}",
        said.err
    );
    assert_eq!(said.code, Some(1), "{}", said.err);
    // It runs here, and on no other database.
    let other = project();
    other.ask("CREATE TABLE tb_a (x int)");
    other.write(
        "db/migrations/2_b.sql",
        "ALTER TABLE tb_a ADD COLUMN z int;",
    );
    let words = other.svc(&["migrate", "check"]).bad();
    assert!(
        words.contains(
            "on an empty database, db/migrations/2_b.sql:1: relation \"tb_a\" does not exist"
        ),
        "{words}"
    );
    assert!(
        words.contains("run `svc migrate check` again")
            && !words.contains("`svc migrate up` again"),
        "{words}"
    );
}

#[test]
fn an_image_needs_the_files_of_the_database_alone() {
    let place = with_view();
    std::fs::remove_file(place.path("Cargo.toml")).expect("the manifest");
    place.svc(&["migrate", "up"]).good();
    let other = Place::new();
    let url = format!("SVC_DATABASE_URL={}", place.url());
    for folder in [".", "db"] {
        let folder = place.path(folder);
        let mut command = crate::support::command(&other.path("."));
        command
            .args(["migrate", "up", "--project"])
            .arg(folder)
            .env(
                "SVC_DATABASE_URL",
                url.trim_start_matches("SVC_DATABASE_URL="),
            );
        let said = crate::support::said(command.output().expect("the binary"));
        assert!(
            said.err.contains("the database is up to date"),
            "{}",
            said.err
        );
    }
    assert!(
        other
            .svc(&["migrate", "up", "--project", "nowhere"])
            .bad()
            .contains("has no database files")
    );
}
