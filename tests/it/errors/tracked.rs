//! The error tracker: what it captures by itself, and what one can do with groups.

use std::io;
use std::time::Duration;

use serde_json::json;
use svc::error_tracker::{
    ErrorContext, ErrorGroup, ErrorState, ErrorTracker, MIGRATION, init_error_tracker,
};
use svc::{SvcConfig, get_error_tracker};
use svc_tests::{App, Log, TestDatabase, is_alone};

use super::service::{SQL, options};

/// The longest wait for errors to be written.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

pub(super) async fn tracked() -> (TestDatabase, App, ErrorTracker) {
    let database = TestDatabase::new(SQL).await;
    database.execute(MIGRATION).await;
    database.execute(MIGRATION).await;
    assert!(get_error_tracker().is_none());
    let tracker = init_error_tracker(database.pool().await, "test", "1.2.3");
    let app = App::serve(options(&database, SvcConfig::default())).await;
    (database, app, tracker)
}

async fn groups(tracker: &ErrorTracker, state: Option<ErrorState>) -> Vec<ErrorGroup> {
    assert!(tracker.flush(PATIENCE).await, "{:?}", tracker.status());
    tracker.groups(state, 100).await.unwrap()
}

async fn ask(app: &App, request: &str, document: &str) -> svc_tests::Reply {
    let sent = app
        .request("POST", "/graphql")
        .json(&json!({ "query": document }));
    app.send(sent.header("x-request-id", request)).await
}

#[tokio::test]
async fn errors_and_panics_are_captured_under_their_error_id() {
    if !is_alone(
        module_path!(),
        "errors_and_panics_are_captured_under_their_error_id",
    ) {
        return;
    }
    let log = Log::start();
    let (_database, app, tracker) = tracked().await;
    for (request, document, kind, function, file) in [
        (
            "resolver",
            "query Kettle { broken }",
            "INTERNAL_SERVER_ERROR",
            "Query.broken",
            "errors/service.rs",
        ),
        (
            "parsed",
            "query Kettle { parsed }",
            "core::num::error::ParseIntError",
            "Query.parsed",
            "errors/service.rs",
        ),
        (
            "panic",
            "query Kettle { panics }",
            "panic",
            "Query.panics",
            "errors/service.rs",
        ),
        (
            "database",
            "query Kettle { shirts { quotient } }",
            "SQLSTATE 22012",
            "Query.shirts",
            "",
        ),
        (
            "value",
            "query Kettle { shirts(limit: 1) { size } }",
            "a stored value",
            "Shirt.size",
            "",
        ),
    ] {
        let reply = ask(&app, request, document).await;
        let id = reply.json()["errors"][0]["extensions"]["errorId"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        assert!(tracker.flush(PATIENCE).await, "{:?}", tracker.status());
        let found = tracker
            .find(id)
            .await
            .unwrap()
            .unwrap_or_else(|| panic!("{request} is not tracked"));
        assert_eq!(found.request_id.as_deref(), Some(request));
        assert_eq!(
            (found.environment.as_str(), found.release_version.as_str()),
            ("test", "1.2.3")
        );
        assert_eq!(found.operation.as_deref(), Some("Kettle"));
        assert!(
            log.text().contains(&format!("error_id={id} ")),
            "{}",
            log.text()
        );
        let groups = groups(&tracker, None).await;
        let group = groups
            .iter()
            .find(|group| group.id == found.group_id)
            .unwrap();
        assert_eq!(
            (group.error_type.as_str(), group.function.as_str()),
            (kind, function),
            "{group:?}"
        );
        assert!(
            group.file.ends_with(file) && (file.is_empty() || group.line > 0),
            "{group:?}"
        );
    }
    let panicked = groups(&tracker, None)
        .await
        .into_iter()
        .find(|group| group.error_type == "panic")
        .unwrap();
    let [occurrence] = &tracker.occurrences(panicked.id, 10).await.unwrap()[..] else {
        panic!("{panicked:?}")
    };
    assert!(
        occurrence.message.contains("the kettle exploded"),
        "{occurrence:?}"
    );
}

#[tokio::test]
async fn resolved_groups_reopen_and_ignored_groups_do_not() {
    if !is_alone(
        module_path!(),
        "resolved_groups_reopen_and_ignored_groups_do_not",
    ) {
        return;
    }
    let (_database, app, tracker) = tracked().await;
    ask(&app, "one", "{ broken }").await;
    ask(&app, "two", "{ a: broken b: broken }").await;
    ask(&app, "three", "{ panics }").await;
    let all = groups(&tracker, Some(ErrorState::Unresolved)).await;
    let [panics, broken] = &all[..] else {
        panic!("{all:#?}")
    };
    assert_eq!(
        (
            broken.occurrences,
            panics.occurrences,
            broken.times_reopened
        ),
        (3, 1, 0)
    );
    assert_eq!(
        (broken.function.as_str(), broken.first_release.as_str()),
        ("Query.broken", "1.2.3")
    );
    assert!(tracker.resolve(broken.id).await.unwrap() && tracker.ignore(panics.id).await.unwrap());
    assert!(
        !tracker.resolve(svc::prelude::Uuid::new_v4()).await.unwrap(),
        "there is no such group"
    );
    assert_eq!(groups(&tracker, Some(ErrorState::Unresolved)).await, []);
    assert_eq!(groups(&tracker, Some(ErrorState::Resolved)).await.len(), 1);
    ask(&app, "four", "{ panics }").await;
    ask(&app, "five", "{ broken }").await;
    let all = groups(&tracker, Some(ErrorState::Unresolved)).await;
    let [reopened] = &all[..] else {
        panic!("{all:#?}")
    };
    assert_eq!(
        (reopened.id, reopened.times_reopened, reopened.occurrences),
        (broken.id, 1, 4)
    );
    let ignored = groups(&tracker, Some(ErrorState::Ignored)).await;
    assert!(
        matches!(&ignored[..], [group] if group.id == panics.id && group.occurrences == 2),
        "{ignored:#?}"
    );
    assert!(tracker.reopen(panics.id).await.unwrap());
    assert_eq!(
        groups(&tracker, Some(ErrorState::Unresolved)).await.len(),
        2
    );
}

#[tokio::test]
async fn a_program_captures_errors_with_context() {
    if !is_alone(module_path!(), "a_program_captures_errors_with_context") {
        return;
    }
    let (_database, _app, tracker) = tracked().await;
    let error = io::Error::other("the disk\0is full");
    let context = ErrorContext::new()
        .function("report")
        .user_id("ada\0")
        .operation("nightly");
    let huge = svc::serde_json::from_str::<svc::serde_json::Value>("1e400000").unwrap_or_default();
    let context = context.with("cart\0", json!({ "items": [1, "two\0", huge] }));
    let id = tracker.capture_exception(&error, context);
    let large = ErrorContext::new()
        .function("report")
        .with("text", "x".repeat(1_000_000));
    let line = line!() + 1;
    let second = tracker.capture_exception(&error, large);
    assert!(tracker.flush(PATIENCE).await, "{:?}", tracker.status());
    let found = tracker.find(id).await.unwrap().unwrap();
    assert_eq!(
        (found.user_id.as_deref(), found.operation.as_deref()),
        (Some("ada\u{fffd}"), Some("nightly"))
    );
    assert_eq!(found.message, "the disk\u{fffd}is full");
    assert_eq!(found.context["cart\u{fffd}"]["items"][1], "two\u{fffd}");
    let stack = found
        .stack_trace
        .expect("a stack, as it is the first error of all");
    assert!(
        stack.contains("a_program_captures_errors_with_context"),
        "{stack}"
    );
    let second = tracker.find(second).await.unwrap().unwrap();
    assert!(
        second.context["too_large"]
            .as_u64()
            .is_some_and(|bytes| bytes > 1_000),
        "{:?}",
        second.context
    );
    let groups = groups(&tracker, None).await;
    assert_eq!(groups.len(), 2, "two places: {groups:#?}");
    assert!(
        groups
            .iter()
            .any(|group| group.line == i32::try_from(line).unwrap()
                && group.file.ends_with("tracked.rs"))
    );
    assert!(
        groups
            .iter()
            .all(|group| group.error_type == "std::io::error::Error" && group.function == "report")
    );
    assert_eq!(tracker.status().dropped, 0);
}

/// The role of the service calls functions and reads no table.
#[tokio::test]
async fn the_tracker_role_needs_no_table_privileges() {
    if !is_alone(module_path!(), "the_tracker_role_needs_no_table_privileges") {
        return;
    }
    let database = TestDatabase::new(SQL).await;
    database.execute(MIGRATION).await;
    let role = format!("tracker_{}", database.name());
    database
        .execute(&format!(
            "CREATE ROLE {role}; SELECT svc_errors.allow('{role}')"
        ))
        .await;
    let set_role = format!("SET ROLE {role}");
    let pool = sqlx::postgres::PgPoolOptions::new()
        .max_connections(1)
        .after_connect(move |connection, _| {
            let set_role = set_role.clone();
            Box::pin(async move {
                sqlx::raw_sql(sqlx::AssertSqlSafe(set_role))
                    .execute(connection)
                    .await
                    .map(drop)
            })
        });
    let pool = pool.connect(&database.url()).await.unwrap();
    assert!(
        sqlx::query("SELECT FROM svc_errors.occurrence")
            .execute(&pool)
            .await
            .is_err()
    );
    let tracker = init_error_tracker(pool, "test", "1");
    let id = tracker.capture_exception(&io::Error::other("on fire"), ErrorContext::new());
    assert!(tracker.flush(PATIENCE).await, "{:?}", tracker.status());
    let found = tracker.find(id).await.unwrap().unwrap();
    assert!(tracker.resolve(found.group_id).await.unwrap());
    database
        .execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}"))
        .await;
}

/// Errors of clients are not tracked, and leave the stack traces to tracked errors.
#[tokio::test]
async fn client_errors_use_up_no_stack_traces() {
    if !is_alone(module_path!(), "client_errors_use_up_no_stack_traces") {
        return;
    }
    let (_database, _app, tracker) = tracked().await;
    let of_clients = || svc::Error::new(svc::ErrorCode::BadUserInput, "give a number");
    assert_eq!((0..1_000).filter(|_| of_clients().is_masked()).count(), 0);
    let captured = [
        tracker.capture_exception(
            &io::Error::other("one"),
            ErrorContext::new().function("first"),
        ),
        tracker.capture_exception(
            &io::Error::other("two"),
            ErrorContext::new().function("second"),
        ),
    ];
    assert!(tracker.flush(PATIENCE).await, "{:?}", tracker.status());
    for id in captured {
        let found = tracker.find(id).await.unwrap().unwrap();
        assert!(found.stack_trace.is_some(), "{found:?}");
    }
}

/// Default privileges also apply to the tables of this schema.
#[tokio::test]
async fn default_privileges_grant_no_access_to_tracked_errors() {
    let database = TestDatabase::new(
        "DO $do$ BEGIN EXECUTE format(
             'CREATE ROLE %1$I; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO %1$I, PUBLIC',
             'tracks_' || current_database());
         END $do$;
         CREATE TABLE tb_other ();",
    )
    .await;
    let pool = database.pool().await;
    for _ in 0..2 {
        database.execute(MIGRATION).await;
        let readable: String = svc::sqlx::query_scalar(
            "SELECT string_agg(oid::regclass::text, ' ') FROM pg_class
             WHERE has_table_privilege(('tracks_' || current_database())::name, oid, 'SELECT')
                 AND relkind = 'r' AND relnamespace IN ('svc_errors'::regnamespace, 'public'::regnamespace)",
        )
        .fetch_one(&pool)
        .await
        .unwrap();
        assert_eq!(readable, "tb_other");
    }
    pool.close().await;
}

/// Also to a role with default privileges, which are revoked from it only for a new table.
#[tokio::test]
async fn grants_on_tracked_errors_outlast_the_migration_when_it_is_run_again() {
    let database = TestDatabase::new(
        "DO $do$ BEGIN EXECUTE format(
             'CREATE ROLE %1$I; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO %1$I',
             'charts_' || current_database());
         END $do$;",
    )
    .await;
    database.execute(MIGRATION).await;
    database
        .execute(
            "DO $do$ BEGIN EXECUTE format(
                 'GRANT SELECT ON svc_errors.error_group TO %1$I', 'charts_' || current_database());
             END $do$;
             DROP TABLE svc_errors.batch;",
        )
        .await;
    database.execute(MIGRATION).await;
    let pool = database.pool().await;
    let readable: String = svc::sqlx::query_scalar(
        "SELECT string_agg(oid::regclass::text, ' ') FROM pg_class
         WHERE has_table_privilege(('charts_' || current_database())::name, oid, 'SELECT')
             AND relkind = 'r' AND relnamespace = 'svc_errors'::regnamespace",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    assert_eq!(readable, "svc_errors.error_group");
    pool.close().await;
}
