//! Mutations through functions of the database.

mod arguments;
mod atomic;
mod bad_entities;
mod changed_types;
mod contention;
mod default_conflicts;
mod effects;
mod failures;
mod hidden_rows;
mod lists;
mod nested;
mod nested_misfits;
mod nested_trees;
mod own_sql;
mod query;
mod raised;
mod refusals;
mod required;
mod resolvers;
mod results;
mod rollback;
mod round_trips;
mod schema;
mod sent_once;
mod start;
mod table_misfits;
mod tables;
mod uneven_lists;
mod untaken;
mod updated_fields;
mod upserts;
mod value_rules;

use svc_tests::{App, Reply, eventually};

/// The readiness, once it says this of the schema: on a busy machine it may say for a moment that
/// the database does not answer.
async fn ready(app: &App, part: &str) -> Reply {
    eventually(async || {
        let reply = app.get("/ready").await;
        let is_reached = reply.json()["checks"]["database"] == "ok";
        if is_reached && reply.text.contains(part) {
            Ok(reply)
        } else {
            Err(reply.text)
        }
    })
    .await
}

/// Waits until the service caches responses: each run of its query `tick` returns another value.
async fn until_cached(app: &App) {
    eventually(async || {
        let (one, other) = (
            app.query("{ tick }").await.text,
            app.query("{ tick }").await.text,
        );
        if one == other {
            Ok(())
        } else {
            Err(format!("{one} {other}"))
        }
    })
    .await;
}
