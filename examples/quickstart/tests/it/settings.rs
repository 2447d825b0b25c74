//! Settings that are not right, and what is said of them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use svc_tests::Program;

use crate::{ask, command, until_answered};

#[test]
fn a_setting_that_is_not_text_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["SVC_DATABASE_URL", "DATABASE_URL", "SVC_PORT"] {
        let bytes = OsStr::from_bytes(b"postgres://user:se\xffcret@127.0.0.1/name");
        let output = command(folder.path()).env(name, bytes).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();

        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains(&format!("{name} is \"***\"; it must be text in UTF-8")),
            "{said}"
        );
        assert!(!said.contains("cret"), "{said}");

        assert!(
            !folder.path().join(".svc").exists(),
            "a database was started for a {name} that is not text"
        );
    }
}

#[tokio::test]
async fn settings_without_an_effect_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut start = command(folder.path());
    start
        .env("SVC_DATABASE_POOLSIZE", "3")
        .env("SVC_AUTO_CAMEL_CASE", "false")
        .env("RUST_LOG", "info,svc=loud=3");
    let mut program = Program::start(&mut start);
    program.wait_for("RUST_LOG is not a valid filter");
    program.wait_for(
        "SVC_DATABASE_POOLSIZE is not a setting of svc; did you mean SVC_DATABASE_POOL_SIZE?",
    );
    program.wait_for("SVC_AUTO_CAMEL_CASE is set but has no effect: the program overrides it");

    assert!(
        ask(&program.url(), "{ users { createdAt } }")
            .await
            .contains("createdAt")
    );
}

#[tokio::test]
async fn valid_settings_are_not_reported() {
    let folder = tempfile::tempdir().unwrap();
    let mut start = command(folder.path());
    start
        .env("SVC_DATABASE_POOL_SIZE", "3")
        .env("RUST_LOG", "info,svc=debug")
        .env("SVC_AUTO_CAMEL_CASE", "true");
    let mut program = Program::start(&mut start);
    program.url();
    program.signal("TERM");
    let (_, lines) = program.end();
    let said = lines.join("\n");

    assert!(
        !said.contains("not a setting")
            && !said.contains("no effect")
            && !said.contains("not a valid"),
        "{said}"
    );
}

#[tokio::test]
async fn the_environment_of_libpq_does_not_reach_the_embedded_database() {
    let folder = tempfile::tempdir().unwrap();
    let mut start = command(folder.path());
    for (name, value) in [
        ("PGOPTIONS", "-c no_such_setting=1"),
        ("PGHOST", "/nowhere"),
        ("PGPORT", "1"),
        ("PGUSER", "nobody"),
        ("PGDATABASE", "none"),
        ("PGSSLMODE", "verify-full"),
    ] {
        start.env(name, value);
    }

    let mut program = Program::start(&mut start);
    let url = program.url();

    until_answered(&url, "{ users { name } }", "Ada").await;
}
