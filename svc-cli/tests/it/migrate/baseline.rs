//! `svc migrate baseline`.

use super::with_files;
use crate::database::project;

#[test]
fn an_existing_database_is_adopted_unchanged() {
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
            .contains("was removed: the project does not have the file")
    );
}

#[test]
fn the_history_of_sqlx_is_imported() {
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
        said.err.contains("2 migrations of sqlx were recorded"),
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
    assert!(import().err.contains("0 migrations of sqlx were recorded"));
    assert!(place.svc(&["migrate", "up"]).err.contains("applied 1 file"));

    run(4, "SELECT 1", true);
    assert!(
        import()
            .bad()
            .contains("sqlx has run the migration 4, but db/migrations has no file for it")
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
            .contains("sqlx has started db/migrations/4_d.sql but not finished it")
    );
}
