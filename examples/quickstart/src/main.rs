//! The smallest service: one view, one query. Run with `cargo run -p quickstart`.

use svc::prelude::*;

/// A person who writes.
#[svc_type(sql_source = "v_user")]
pub struct User {
    /// The user's identifier.
    pub id: Uuid,
    /// The name as shown.
    pub name: String,
    /// The time at which the user joined.
    pub created_at: DateTime<Utc>,
}

/// Users. No body: it compiles to one SQL statement, with `where`, `orderBy`, `limit` and `offset`
/// of its own.
#[svc::query]
async fn users() -> Vec<User>;

/// One user.
#[svc::query]
async fn user(id: Uuid) -> Option<User>;

#[tokio::main]
async fn main() -> svc::Result<()> {
    let server = svc::Server::from_env().await?;
    let options = AppOptions::from_env()?
        .auto_camel_case(true)
        .embedded_database(svc::embedded::Options::new(".svc"))
        .setup_sql(include_str!("schema.sql"))
        .queries(queries![users, user]);
    server.serve(create_svc_app(options).await?).await
}
