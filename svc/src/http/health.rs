//! `GET /health` and `GET /ready`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde_json::{Value, json};

use super::Service;
use crate::app::ShuttingDown;
use crate::db::DbError;

/// The process is up.
pub(super) async fn health(State(service): State<Arc<Service>>) -> Json<Value> {
    Json(json!({ "status": "healthy", "service": service.name }))
}

/// The service can answer: a connection comes free in time, the database answers on it, and its views are there.
pub(super) async fn ready(
    State(service): State<Arc<Service>>,
    stopping: Option<Extension<ShuttingDown>>,
) -> (StatusCode, Json<Value>) {
    let database = &service.engine.app.database;
    let (answers, busy) = match database.ping().await {
        // What is known of the database is older than that.
        Err(DbError::Busy) if database.is_up() => (Ok(()), true),
        answers => (answers, false),
    };
    let missing = database.missing_sources();
    let broken = database.missing_functions();
    let checks = [
        ("database", answers.as_ref().err().map(ToString::to_string)),
        (
            "schema",
            match (&answers, missing.is_empty(), broken.is_empty()) {
                (Err(_), ..) => Some("the database does not answer".to_owned()),
                (Ok(()), false, _) => Some(format!("missing in the database: {}", missing.join(", "))),
                (Ok(()), true, false) => Some(broken.join("; ")),
                (Ok(()), true, true) => None,
            },
        ),
        ("pool", busy.then(|| no_connection(database.pool_use()))),
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
    (status, Json(body))
}

/// Why no connection came. A pool that is in use is no reason: its connections come back.
fn no_connection((in_use, most): (u32, u32)) -> String {
    if in_use >= most {
        format!("all {most} connections are in use, and none came free")
    } else {
        "the database has no connection left".to_owned()
    }
}
