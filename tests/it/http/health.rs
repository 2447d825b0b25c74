//! Health checks: the application's own in `/ready`, and those that a program runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};
use svc::health::{HealthCheck, HealthStatus, check_database, check_pool_stats, check_query_stats};
use svc::prelude::*;
use svc_tests::{App, Log, TestDatabase, eventually};

#[svc::query]
fn hello() -> &'static str {
    "world"
}

async fn app(url: String, health: &HealthCheck) -> App {
    App::serve(
        AppOptions::new()
            .database_url(url)
            .queries(queries![hello])
            .health_check(health),
    )
    .await
}

/// Waits until `/ready` answers with a status, and returns its checks.
async fn ready(app: &App, status: u16) -> Value {
    eventually(async || {
        let reply = app.get("/ready").await;
        if reply.status == status {
            Ok(reply.json()["checks"].clone())
        } else {
            Err(reply.text)
        }
    })
    .await
}

#[tokio::test]
async fn readiness_includes_checks_of_the_application() {
    let (is_up, asked) = (
        Arc::new(AtomicBool::new(true)),
        Arc::new(AtomicUsize::new(0)),
    );
    let (mail, count) = (is_up.clone(), asked.clone());
    let health = HealthCheck::new()
        .add_check("database", check_database)
        .add_check("mail", move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            let is_up = mail.load(Ordering::Relaxed);
            async move {
                if is_up {
                    Ok(())
                } else {
                    Err(Error::new(
                        ErrorCode::ServiceUnavailable,
                        "the mail server is away",
                    ))
                }
            }
        });
    let app = app(TestDatabase::empty().await, &health).await;
    let checks = ready(&app, 200).await;
    assert_eq!(
        checks,
        json!({ "database": "ok", "mail": "ok", "schema": "ok", "pool": "ok" })
    );
    is_up.store(false, Ordering::Relaxed);
    let checks = ready(&app, 503).await;
    assert_eq!(checks["mail"], "failed: the mail server is away");
    assert_eq!(checks["database"], "ok");
    assert_eq!(
        app.get("/health").await.status,
        200,
        "the process is up, whatever it depends on"
    );
    is_up.store(true, Ordering::Relaxed);
    ready(&app, 200).await;
    asked.store(0, Ordering::Relaxed);
    for _ in 0..50 {
        app.get("/ready").await;
    }
    let asked = asked.load(Ordering::Relaxed);
    assert!(asked < 25, "fifty probes ran the check {asked} times");
}

#[tokio::test]
async fn panicking_and_masked_checks_fail_with_an_error_id() {
    let secret = "the password is hunter2";
    let log = Log::start();
    let health = HealthCheck::new()
        .add_check("panics", |_| async {
            if true { panic!("on purpose") } else { Ok(()) }
        })
        .add_check("masked", move |_| async move {
            Err::<(), _>(Error::internal(secret))
        });
    let app = app(TestDatabase::empty().await, &health).await;
    let checks = ready(&app, 503).await;
    for (name, reason) in [("panics", "on purpose"), ("masked", secret)] {
        let failed = checks[name].as_str().unwrap();
        let id = failed
            .strip_prefix("failed: internal server error (errorId ")
            .unwrap()
            .trim_end_matches(')');
        let text = log.text();
        let lines: Vec<_> = text
            .lines()
            .filter(|line| line.contains(&format!("error_id={id} ")))
            .collect();
        assert!(lines.len() == 1 && lines[0].contains(reason), "{lines:?}");
    }
}

#[tokio::test]
async fn a_program_can_run_its_health_checks() {
    let health = HealthCheck::new()
        .add_check("database", check_database)
        .add_check("pool", check_pool_stats)
        .add_check("statistics", check_query_stats)
        .add_check("answer", |_| async { Ok(41) })
        .add_check("answer", |_| async { Ok(42) });
    let early = health.run_checks().await;
    assert_eq!(early.status, HealthStatus::Degraded);
    assert!(
        early.checks["database"]
            .message
            .as_ref()
            .is_some_and(|why| why.contains("no application")),
        "{early:?}"
    );

    let app = app(TestDatabase::empty().await, &health).await;
    ready(&app, 200).await;
    let report = eventually(async || {
        let report = serde_json::to_value(health.run_checks().await).unwrap();
        if report["status"] == "healthy" {
            Ok(report)
        } else {
            Err(format!("{report:#}"))
        }
    })
    .await;
    assert_eq!(
        report["checks"]["answer"],
        json!({ "status": "healthy", "details": 42 })
    );
    assert_eq!(
        report["checks"]["statistics"]["details"],
        json!({ "available": false })
    );
    let pool = &report["checks"]["pool"]["details"]["svc"];
    // The other check may be using a connection just then.
    assert!(
        pool["active"].as_i64().is_some_and(|active| active <= 1),
        "{report:#}"
    );
    assert_eq!(
        (&pool["waiting"], &pool["max"]),
        (&json!(0), &json!(8)),
        "{report:#}"
    );
}

#[tokio::test]
async fn without_a_database_the_service_is_healthy_and_not_ready() {
    let health = HealthCheck::new()
        .add_check("db", check_database)
        .add_check("pool", check_pool_stats);
    let app = app("postgres://nobody@127.0.0.1:1/nothing".to_owned(), &health).await;
    let reply = app.get("/health").await;
    assert_eq!(
        reply.json(),
        json!({ "status": "healthy", "service": "svc" })
    );
    let checks = ready(&app, 503).await;
    for name in ["database", "db", "schema"] {
        assert!(
            checks[name].as_str().unwrap().starts_with("failed: "),
            "{checks}"
        );
    }
    assert_eq!(checks["pool"], "ok");
}
