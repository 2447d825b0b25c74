//! Projects of several companies. Run with `SVC_AUTH_SECRET_KEY=… cargo run -p saas`; the book's
//! chapter "A SaaS from the first table" goes through it.
//!
//! `db/` has the tables, their policies, the views and the functions. `schema` is what clients see,
//! and `tenant` tells PostgreSQL who asks.

pub mod schema;
pub mod tenant;

use svc::accounts::{
    AccountDatabase, MIGRATION, NativeAuthFactory, PostgresUserRepository, create_auth_router,
};
use svc::axum::Router;
use svc::db::AssertSqlSafe;
use svc::prelude::*;
use svc::{ApiKeys, Constraint, embedded};

/// The role as which requests run. The policies bind it, as it owns nothing.
pub const ROLE: &str = "saas";

/// The tables of accounts and API keys, and those of the application. It can be run again.
pub const SETUP: [&str; 6] = [
    MIGRATION,
    ApiKeys::SCHEMA,
    include_str!("../db/tables.sql"),
    include_str!("../db/policies.sql"),
    include_str!("../db/views.sql"),
    include_str!("../db/functions.sql"),
];

/// The options of the environment. Unless they name a database, the program runs an embedded one in
/// `.svc/saas`.
///
/// # Errors
/// A setting that is wrong.
pub fn options() -> Result<AppOptions> {
    let database = embedded::Options::new(".svc/saas").role(ROLE);
    Ok(AppOptions::from_env()?
        .embedded_database(database)
        .setup_sql(AssertSqlSafe(SETUP.join("\n"))))
}

/// The whole application: GraphQL, and the routes of accounts below `/auth`.
///
/// # Errors
/// A setting that is wrong, or a secret that cannot be one.
pub async fn app(options: AppOptions, secret: &str) -> Result<Router> {
    let database = AccountDatabase::of_application();
    let users = PostgresUserRepository::new(&database);
    let (access, refresh) = (
        NativeAuthFactory::ACCESS_TOKEN_TTL,
        NativeAuthFactory::REFRESH_TOKEN_TTL,
    );
    let native =
        NativeAuthFactory::new(&database).create_provider(users, secret, access, refresh)?;
    let options = tenant::with_tenants(schema::with_schema(with_messages(options)))
        .accounts(&database)
        .auth_provider(native.clone())
        .api_keys(ApiKeys::new());

    Ok(create_svc_app(options)
        .await?
        .nest("/auth", create_auth_router(&native)))
}

/// The messages that clients read where a table refuses a row.
fn with_messages(options: AppOptions) -> AppOptions {
    options
        .constraint(
            Constraint::new(
                "tb_member_once",
                "this account belongs to a workspace already",
            )
            .field("email"),
        )
        .constraint(
            Constraint::new(
                "tb_project_name",
                "there is a project with this name already",
            )
            .field("name"),
        )
        .constraint(
            Constraint::new("tb_task_project", "there is no such project").field("projectId"),
        )
        .constraint(
            Constraint::new("tb_task_assignee", "there is no such member").field("assigneeId"),
        )
}
