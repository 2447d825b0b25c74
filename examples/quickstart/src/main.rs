//! The smallest service: one view and two queries. Run it with `cargo run -p quickstart`.

use svc::prelude::*;

/// A user of the service.
#[svc_type(sql_source = "v_user")]
pub struct User {
    /// The user's identifier.
    pub id: Uuid,
    /// The displayed name.
    pub name: String,
    /// The time at which the user joined.
    pub created_at: DateTime<Utc>,
}

/// The users. The function has no body, so svc writes its SQL, and adds the arguments `where`,
/// `orderBy`, `limit` and `offset`.
#[svc::query]
async fn users() -> Vec<User>;

/// The user with this id, or null.
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
