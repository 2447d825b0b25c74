//! `svc doctor`.

use std::process::Command;

use crate::database::project;
use crate::support::{Place, Said, command, said};

fn report(place: &Place) -> (Option<i32>, serde_json::Value) {
    let Said { code, out, .. } = place.svc(&["doctor", "--json"]);
    (code, serde_json::from_str(&out).expect("JSON"))
}

/// The state of the finding with these words.
#[track_caller]
fn state(report: &serde_json::Value, words: &str) -> String {
    let findings = report["findings"].as_array().expect("findings");
    let found = findings.iter().find(|finding| {
        finding["message"]
            .as_str()
            .is_some_and(|text| text.contains(words))
    });
    found.unwrap_or_else(|| panic!("{words}: {report:#}"))["state"]
        .as_str()
        .expect("a state")
        .to_owned()
}

#[test]
fn problems_of_production_are_reported() {
    let place = project();
    place.ask("CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY, a_id int REFERENCES a)");
    let (code, before) = report(&place);
    assert_eq!(
        (code, &before["problems"]),
        (Some(0), &0.into()),
        "{before:#}"
    );
    assert_eq!(
        state(&before, "a relation by b.a_id reads the whole table"),
        "warning"
    );
    assert_eq!(state(&before, "is on this machine"), "ok");
    assert_eq!(
        state(&before, "development: clients may read the schema"),
        "warning"
    );
    assert_eq!(state(&before, "is a superuser"), "warning");

    place.ask("CREATE INDEX ON b (a_id)");
    let settings = "SVC_ENVIRONMENT=production\nSVC_INTROSPECTION=true\nSVC_AUTH_SECRET_KEY=short\n\
        SVC_DATABASE_POOL_SIZE=5000\nSVC_LIMIT_DEPTH=4000000000\nSVC_REQUEST_TIMEOUT=0\nSVC_DEV_AUTH_PASSWORD=hunter2\n";
    place.write(".env", &format!("{}{settings}", place.read(".env")));
    for arguments in [["init", "-q"], ["add", ".env"]] {
        assert!(
            Command::new("git")
                .args(arguments)
                .current_dir(place.path("."))
                .output()
                .expect("git")
                .status
                .success()
        );
    }
    let (code, after) = report(&place);
    assert_eq!(
        (code, &after["problems"]),
        (Some(1), &3.into()),
        "{after:#}"
    );
    assert_eq!(state(&after, "every foreign key has one"), "ok");
    assert_eq!(state(&after, ".env is in the git repository"), "problem");
    assert_eq!(
        state(&after, "SVC_AUTH_SECRET_KEY has fewer than 32 bytes"),
        "problem"
    );
    assert_eq!(state(&after, "pools of 5000 connections"), "problem");
    assert_eq!(state(&after, "the schema in production too"), "warning");
    assert_eq!(
        state(&after, "SVC_LIMIT_DEPTH=4000000000 is effectively no limit"),
        "warning"
    );
    assert_eq!(state(&after, "a request may run forever"), "warning");
    let text = place.svc(&["doctor"]);
    assert!(
        text.err.ends_with("error: there are 3 problems\n"),
        "{}",
        text.err
    );
    for secret in ["hunter2", "short\""] {
        assert!(
            !text.out.contains(secret) && !after.to_string().contains(secret),
            "{}",
            text.out
        );
    }
}

#[test]
fn documents_that_are_not_registered_are_a_warning_in_production() {
    let place = Place::new();
    place.write("Cargo.toml", "");
    let with = |settings: &str| {
        place.write(".env", settings);
        report(&place).1
    };
    let is_silent = |report: &serde_json::Value| {
        let findings = report["findings"].as_array().expect("findings");
        findings
            .iter()
            .all(|finding| finding["subject"] != "documents")
    };

    let registered = "SVC_ENVIRONMENT=production\nSVC_OPERATIONS_DIR=operations\n";
    let open = with(registered);
    let any = "clients may send any other document too";
    assert_eq!(state(&open, any), "warning");

    let tried = with(&format!(
        "{registered}SVC_REGISTERED_ONLY=true\nSVC_REGISTERED_ONLY_MODE=warn\n"
    ));
    let logged = "documents that are not registered are logged, and run";
    assert_eq!(state(&tried, logged), "warning");

    let only = with(&format!("{registered}SVC_REGISTERED_ONLY=true\n"));
    assert_eq!(
        state(&only, "only registered operations are accepted"),
        "ok"
    );

    assert!(is_silent(&with("SVC_ENVIRONMENT=production\n")));
    assert!(is_silent(&with("SVC_OPERATIONS_DIR=operations\n")));
}

#[test]
fn missing_parts_are_named_with_their_fix() {
    let place = Place::new();
    assert!(
        place
            .svc(&["doctor"])
            .good()
            .contains("warning  project: Not in a project directory")
    );
    place.write("Cargo.toml", "");
    let none = place.svc(&["doctor"]);
    assert_eq!(none.code, Some(1));
    assert!(
        none.out.contains(
            "problem  database: no database URL is set\n         fix: set SVC_DATABASE_URL"
        ),
        "{}",
        none.out
    );
    let url = "postgresql://a@db.example.invalid/b";
    let away = command(&place.path("."))
        .args(["doctor"])
        .env("SVC_DATABASE_URL", url)
        .output();
    let away = said(away.expect("the binary"));
    assert!(
        away.out
            .contains("problem  database: cannot connect to the database `b`"),
        "{}",
        away.out
    );
    let silent = place.svc(&["doctor", "--url", "http://127.0.0.1:1/graphql"]);
    assert!(
        silent
            .out
            .contains("problem  service: http://127.0.0.1:1/graphql does not respond"),
        "{}",
        silent.out
    );
}
