//! `GET /health` and `GET /ready`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::{Extension, Json};
use serde_json::{Value, json};

use super::AppState;
use crate::postgres::DbError;

/// In the extensions of requests that come after the server was told to stop.
#[derive(Debug, Clone)]
pub(crate) struct ShuttingDown;

type NotKept = [(HeaderName, HeaderValue); 1];

/// A cache between the service and a probe would answer for it.
const NOT_KEPT: NotKept = [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];

/// The process is up.
pub(super) async fn health(State(service): State<Arc<AppState>>) -> (NotKept, Json<Value>) {
    (NOT_KEPT, Json(json!({ "status": "healthy", "service": service.name })))
}

/// The service can answer: a connection comes free in time, the database answers on it, and its views are there.
pub(super) async fn ready(
    State(service): State<Arc<AppState>>,
    stopping: Option<Extension<ShuttingDown>>,
) -> (StatusCode, NotKept, Json<Value>) {
    let database = &service.engine.app.database;
    let (answers, no_connection) = match database.ping().await {
        Err(DbError::PoolTimedOut | DbError::TooManyConnections) if !database.is_up() => {
            (Err(DbError::Unreachable), None)
        }
        // The database itself was not asked, and is as it was when it was asked last. A pool that is merely in use is
        // no reason, as its connections come back.
        Err(DbError::PoolTimedOut) => {
            let most = database.max_connections();
            (Ok(()), Some(format!("all {most} connections are in use, and none came free")))
        }
        Err(full @ DbError::TooManyConnections) => (Ok(()), Some(full.to_string())),
        answers => (answers, None),
    };
    let missing = database.missing_sources();
    let broken = database.missing_functions();
    let checks = [
        ("database", answers.as_ref().err().map(ToString::to_string)),
        (
            "schema",
            match (&answers, missing.is_empty(), broken.is_empty()) {
                (Err(DbError::UnboundPolicies), ..) => Some("the database is not used".to_owned()),
                (Err(_), ..) => Some("the database does not answer".to_owned()),
                (Ok(()), false, _) => Some(format!("missing in the database: {}", missing.join(", "))),
                (Ok(()), true, false) => Some(broken.join("; ")),
                (Ok(()), true, true) => None,
            },
        ),
        ("pool", no_connection),
    ];
    let is_ready = stopping.is_none() && checks.iter().all(|(_, failure)| failure.is_none());
    let checks: serde_json::Map<String, Value> = checks
        .into_iter()
        .map(|(name, failure)| {
            (name.to_owned(), failure.map_or_else(|| "ok".to_owned(), |why| format!("failed: {why}")).into())
        })
        .collect();
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let body = json!({
        "status": if is_ready { "ready" } else { "not_ready" },
        "checks": checks,
        "timestamp": chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
    });
    (status, NOT_KEPT, Json(body))
}
