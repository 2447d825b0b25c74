//! Odd input, odd folders and odd environments. The folders of all tests have a space and letters
//! beyond ASCII.

use std::process::Stdio;

use crate::database::project;
use crate::support::{Place, command, said};

#[test]
fn migrations_of_one_second_have_numbers_of_their_own() {
    let place = project();
    let paths: Vec<String> = (0..5)
        .map(|_| place.svc(&["migrate", "new", "add_stock"]).good())
        .collect();
    assert!(
        paths.is_sorted() && paths.windows(2).all(|pair| pair[0] != pair[1]),
        "{paths:?}"
    );
    for path in &paths {
        std::fs::write(place.path(path.trim()), "SELECT 1;").expect("the migration");
    }
    assert!(
        place
            .svc(&["migrate", "up"])
            .err
            .contains("applied 5 files")
    );
}

#[test]
fn sql_that_nests_too_deeply_is_refused_and_not_parsed() {
    let place = project();
    for (open, close) in [("(", ")"), ("(SELECT ", ")"), ("ARRAY[", "]")] {
        let sql = format!("SELECT {}1{}", open.repeat(100_000), close.repeat(100_000));
        place.write("db/migrations/1_deep.sql", &sql);
        let words = place
            .svc(&["sql", "explain", "db/migrations/1_deep.sql"])
            .bad();
        assert!(words.contains("nests more than 200 levels deep"), "{words}");
        assert!(
            place
                .svc(&["migrate", "check"])
                .bad()
                .contains("db/migrations/1_deep.sql:1: ")
        );
    }
    place.write("text.sql", &format!("SELECT '{}'", "(".repeat(1000)));
    place.svc(&["sql", "explain", "text.sql"]).good();
}

#[test]
fn files_that_are_no_sql_are_refused() {
    let place = project();
    place.write("empty.sql", "");
    for (file, words) in [
        ("empty.sql", "has no statements"),
        ("nope.sql", "cannot read nope.sql"),
        (".", "cannot read ."),
    ] {
        let said = place.svc(&["sql", "explain", file]).bad();
        assert!(said.contains(words), "{said}");
    }
    std::fs::write(place.path("binary.sql"), [0xff, 0xfe, 0, 0x80]).expect("a file");
    assert!(
        place
            .svc(&["sql", "explain", "binary.sql"])
            .bad()
            .contains("valid UTF-8")
    );
    assert!(
        place
            .svc(&["sql", "validate", "binary.sql"])
            .bad()
            .contains("valid UTF-8")
    );
    place.write("db/migrations/1_null.sql", "SELECT 'a\0b'");
    assert!(
        place
            .svc(&["migrate", "up"])
            .bad()
            .contains("db/migrations/1_null.sql")
    );
}

#[test]
fn closed_outputs_are_no_failure() {
    let place = project();
    for arguments in [
        &["--help"][..],
        &["completions", "bash"],
        &["man"],
        &["doctor", "--json"],
        &["migrate", "status", "--json"],
        &["db", "status"],
        &["sql", "generate-pattern", "pagination", "v_user"],
    ] {
        let mut child = command(&place.path("."));
        let mut child = child
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary");
        drop(child.stdout.take());
        let said = said(child.wait_with_output().expect("its end"));
        assert_eq!(
            (said.code, said.err.as_str()),
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}

#[test]
fn nothing_of_the_environment_is_needed() {
    let place = project();
    place.write(
        "db/schema/1_a.sql",
        "CREATE TABLE a AS SELECT 'größer €'::text AS x",
    );
    let bare = |arguments: &[&str]| {
        let mut command = command(&place.path("."));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        said(command.args(arguments).output().expect("the binary"))
    };
    bare(&["init", "shop"]).good();
    bare(&["migrate", "up"]).good();
    assert_eq!(
        bare(&["db", "psql", "-XAtc", "SELECT x, length(x) FROM a"]).good(),
        "größer €|8\n"
    );
    bare(&["doctor"]).good();
}

#[test]
fn read_only_commands_create_nothing() {
    let place = project();
    place.svc(&["db", "status"]).good();
    place.svc(&["db", "stop"]).good();
    place.svc(&["migrate", "status"]).good();
    place.svc(&["migrate", "check"]).good();
    assert!(!place.path(".svc").exists());
    assert_eq!(
        place.ask("SELECT to_regclass('svc_history.migrations') IS NULL"),
        "t"
    );
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let place = Place::new();
    place.write("Cargo.toml", "");
    place.write("db", "");
    place.write(".svc", "");
    assert!(
        place
            .svc(&["migrate", "new", "a"])
            .bad()
            .contains("db/migrations")
    );
    assert!(place.svc(&["dev", "--port", "0"]).bad().contains("/.svc"));
    assert!(
        place
            .svc(&["init", "db/shop"])
            .bad()
            .contains("cannot create db")
    );
}
