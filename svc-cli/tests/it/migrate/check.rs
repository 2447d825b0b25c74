//! `svc migrate check`.

use super::with_files;

#[test]
fn check_finds_mistakes_without_a_trace() {
    let place = with_files();
    assert!(
        place
            .svc(&["migrate", "check"])
            .err
            .contains("3 pending files ran")
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
fn dangerous_locks_and_lost_views_are_reported_before_they_happen() {
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
                .contains("hint: change the files as suggested"),
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
            .contains("warning: public.v_a would be dropped, which a running service may read"),
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
