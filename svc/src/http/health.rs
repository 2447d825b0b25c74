//! `GET /health` and `GET /ready`.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::{Extension, Json};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::HttpState;
use super::protection::{Overload, Shed};
use crate::health::{CheckReport, HealthStatus};
use svc_engine::graphql::{Finding, Severity, findings};
use svc_postgres::{Database, DbError};

/// Marks, in their extensions, requests that arrive after the server was ordered to stop.
#[derive(Debug, Clone)]
pub(crate) struct ShuttingDown;

/// The maximum age of a database check that is reused, and the maximum time of a new one.
const RECENT: Duration = Duration::from_secs(1);

type NotKept = [(HeaderName, HeaderValue); 1];

/// A cache between the service and a probe would answer in its place.
const NOT_KEPT: NotKept = [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];

/// Reports that the process is running.
pub(super) async fn health(State(service): State<Arc<HttpState>>) -> (NotKept, Json<Value>) {
    (
        NOT_KEPT,
        Json(json!({ "status": "healthy", "service": service.name })),
    )
}

/// Reports whether the service can execute requests: a connection becomes free in time, the
/// database responds on it, and its views exist.
pub(super) async fn ready(
    State(service): State<Arc<HttpState>>,
    stopping: Option<Extension<ShuttingDown>>,
) -> (StatusCode, NotKept, Json<Value>) {
    let database = &service.engine.app.database;
    let (answers, no_connection) = reached(database).await;
    let events = match service.engine.app.events.is_listening() {
        true => Some(("events", events_failure(&service).await)),
        false => None,
    };

    let missing = database.missing_sources();
    let found = found(&service).await;
    let checks = [
        ("database", failure(&service, answers.as_ref().err())),
        ("schema", schema_failure(&answers, &missing, &found)),
        ("pool", no_connection),
    ];

    let own = own_checks(&service).await;
    let shed = service
        .protection
        .overload
        .as_ref()
        .and_then(Overload::shed);

    // Of two checks with the same name, a failed one is reported.
    let mut checks = own
        .into_iter()
        .chain(checks.map(named))
        .chain(events.map(named))
        .collect::<Vec<_>>();

    if shed.is_some_and(|shed| shed.is_stuck) {
        checks.push((
            "load".to_owned(),
            Some("nearly all requests have been refused for some time".to_owned()),
        ));
    }

    checks.sort_by_key(|(_, failure)| failure.is_some());
    let is_ready = stopping.is_none() && checks.iter().all(|(_, failure)| failure.is_none());
    let checks = results(checks, shed);
    let status = if is_ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };

    let mut body = json!({
        "status": if is_ready { "ready" } else { "not_ready" },
        "checks": checks,
        "timestamp": chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
    });

    if service.engine.development && !found.is_empty() {
        body["details"] = json!({ "schema": found.iter().map(shown).collect::<Vec<_>>() });
    }

    (status, NOT_KEPT, Json(body))
}

/// Returns whether the database responds, and the reason why no connection is available.
async fn reached(database: &Database) -> (Result<(), DbError>, Option<String>) {
    let (answers, no_connection) = match database.ping().await {
        // The pool has no connections because the database is away, so the pool itself is no second
        // failure.
        Err(DbError::PoolTimedOut | DbError::TooManyConnections) if !database.is_up() => {
            (Err(DbError::Unreachable), None)
        }
        // The database itself was not queried, so its last known state applies. A pool in full use
        // is no reason to report the database as failed, because its connections come back.
        Err(DbError::PoolTimedOut) => {
            let most = database.max_connections();
            (
                Ok(()),
                Some(format!(
                    "all {most} connections are in use, and none came free"
                )),
            )
        }
        Err(full @ DbError::TooManyConnections) => (Ok(()), Some(full.to_string())),
        answers => (answers, None),
    };

    if answers.is_ok() && no_connection.is_none() {
        // This database may have replaced the one that the known state describes.
        let _ = timeout(RECENT, database.look_unless(RECENT)).await;
        if !database.is_up() {
            return (database.ping().await, None);
        }
    }

    (answers, no_connection)
}

/// Returns the reason why events do not arrive; the underlying error only in development.
async fn events_failure(service: &HttpState) -> Option<String> {
    let checked = service.engine.app.events.check().await;
    checked
        .err()
        .map(|reason| reason.shown(service.engine.development))
}

/// Returns the findings of the schema against the database, if its catalog has been loaded.
async fn found(service: &HttpState) -> Vec<Finding> {
    let app = &service.engine.app;
    let Ok(catalog) = app.database.catalog_now().await else {
        return Vec::new();
    };
    catalog
        .as_ref()
        .map(|known| findings(&app.model, &app.database, known))
        .unwrap_or_default()
}

fn shown(finding: &Finding) -> Value {
    let Finding {
        severity,
        source,
        field,
        cause,
        remedy,
        ..
    } = finding;
    json!({ "severity": severity.as_str(), "source": source, "field": field, "cause": cause, "remedy": remedy })
}

/// Returns the reason why the schema cannot be used with the database.
fn schema_failure(
    answers: &Result<(), DbError>,
    missing: &[String],
    found: &[Finding],
) -> Option<String> {
    match answers {
        Err(DbError::UnboundPolicies) => return Some("the database is not used".to_owned()),
        Err(_) => return Some("the database does not answer".to_owned()),
        Ok(()) => {}
    }

    if !missing.is_empty() {
        return Some(format!("missing in the database: {}", missing.join(", ")));
    }

    let broken: Vec<String> = found
        .iter()
        .filter(|finding| finding.severity == Severity::Fault)
        .map(|finding| format!("{}: {}", finding.cause, finding.remedy))
        .collect();

    (!broken.is_empty()).then(|| first(&broken))
}

/// Returns the results of the checks by their names. Of two checks with the same name, the last one
/// counts.
fn results(
    checks: Vec<(String, Option<String>)>,
    shed: Option<Shed>,
) -> serde_json::Map<String, Value> {
    let result = |failure: Option<String>| {
        failure.map_or_else(|| "ok".to_owned(), |why| format!("failed: {why}"))
    };
    let mut results: serde_json::Map<String, Value> = checks
        .into_iter()
        .map(|(name, failure)| (name, Value::from(result(failure))))
        .collect();

    if let Some(Shed {
        percent,
        is_stuck: false,
    }) = shed
    {
        // An instance that answers as many requests as it can stays ready: otherwise all instances
        // would leave at once.
        results.insert(
            "load".to_owned(),
            format!("degraded: {percent} % of the last requests were refused").into(),
        );
    }

    results
}

/// Joins the first few problems, and adds the number of the remaining ones.
fn first(broken: &[String]) -> String {
    const MAX_NAMED: usize = 10;

    let first = broken
        .iter()
        .take(MAX_NAMED)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("; ");

    if broken.len() > MAX_NAMED {
        format!("{first}; and {} more", broken.len() - MAX_NAMED)
    } else {
        first
    }
}

/// Returns the reason why the database cannot be used; the underlying error only in development.
fn failure(service: &HttpState, error: Option<&DbError>) -> Option<String> {
    #[cfg(feature = "embedded")]
    if let Some(embedded) = service
        .embedded
        .as_ref()
        .filter(|embedded| !embedded.is_intact())
    {
        return Some(match service.engine.development {
            true => format!(
                "the folder of the embedded database, {}, is gone",
                embedded.data().display()
            ),
            false => "the folder of the embedded database is gone".to_owned(),
        });
    }

    let reason = service
        .engine
        .development
        .then(|| service.engine.app.database.reason())
        .flatten();

    error.map(|error| match (error.to_string(), reason) {
        (error, Some(reason)) if reason.starts_with(&error) => reason,
        (error, Some(reason)) => format!("{error}: {reason}"),
        (error, None) => error,
    })
}

/// Returns the results of the application's own checks: the reason of each failure.
async fn own_checks(service: &HttpState) -> Vec<(String, Option<String>)> {
    let Some(health) = &service.health else {
        return Vec::new();
    };

    let failure = |check: CheckReport| match check.status {
        HealthStatus::Healthy => None,
        HealthStatus::Degraded => {
            let message = check.message.unwrap_or_default();
            Some(
                check
                    .error_id
                    .map_or_else(|| message.clone(), |id| format!("{message} (errorId {id})")),
            )
        }
    };

    health
        .recent_report()
        .await
        .checks
        .into_iter()
        .map(|(name, check)| (name, failure(check)))
        .collect()
}

fn named((name, failure): (&str, Option<String>)) -> (String, Option<String>) {
    (name.to_owned(), failure)
}
