//! Accounts on the embedded database, in the application's own.

use svc::accounts::{AccountDatabase, MIGRATION, PostgresUserRepository, create_auth_router};
use svc::db::AssertSqlSafe;
use svc::prelude::*;
use svc::{create_svc_app, sqlx};
use svc_tests::App;

use super::client::{PASSWORD, assert_accepted, login, register};
use super::service::{factory, provider};
use crate::auth::service::options;

/// The hashes, as the service's own connections see them.
#[svc::query]
async fn hashes(ctx: &Context<'_>) -> Result<Vec<String>> {
    Ok(sqlx::query_scalar("SELECT hash FROM svc_auth.password")
        .fetch_all(ctx.db().pool())
        .await?)
}

/// The sessions, as the service's own connections see them.
#[svc::query]
async fn sessions(ctx: &Context<'_>) -> Result<i64> {
    Ok(sqlx::query_scalar("SELECT count(*) FROM svc_auth.session")
        .fetch_one(ctx.db().pool())
        .await?)
}

/// Whether or not the schema has tables when the role gets its rights.
#[tokio::test]
async fn the_embedded_role_uses_accounts_but_reads_no_hash() {
    let folder = tempfile::tempdir().unwrap();
    for start in 1..=2 {
        let accounts = AccountDatabase::of_application();
        let native = provider(factory(&accounts), PostgresUserRepository::new(&accounts));
        let mut config = svc::SvcConfig::default();
        config.database.url = None;
        let embedded = svc::embedded::Options::new(folder.path()).role("app");
        let options = options()
            .config(config)
            .queries(queries![hashes])
            .embedded_database(embedded);
        let options = options
            .setup_sql(MIGRATION)
            .accounts(&accounts)
            .auth_provider(native.clone());
        let router = create_svc_app(options)
            .await
            .unwrap()
            .nest("/auth", create_auth_router(&native));
        let app = App::serve_router(router).await;
        app.until_ready().await;
        let held = register(&app, &format!("user{start}")).await;
        assert_accepted(&app, &held).await;
        assert_eq!(login(&app, "user1", PASSWORD).await.status, 200);
        let reply = app.query("{ hashes }").await;
        assert_eq!(reply.code(), "INTERNAL_SERVER_ERROR", "{}", reply.text);
        app.stopped().await;
    }
}

#[tokio::test]
async fn the_embedded_role_keeps_grants_on_account_tables_from_the_setup() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = svc::SvcConfig::default();
    config.database.url = None;
    let options = options()
        .config(config)
        .queries(queries![hashes, sessions])
        .embedded_database(svc::embedded::Options::new(folder.path()).role("app"))
        .setup_sql(AssertSqlSafe(format!(
            "{MIGRATION}; GRANT SELECT ON svc_auth.session TO app"
        )));
    let app = App::serve(options).await;
    app.until_ready().await;
    let reply = app.query("{ sessions }").await;
    assert_eq!(reply.json()["data"]["sessions"], 0, "{}", reply.text);
    let reply = app.query("{ hashes }").await;
    assert_eq!(reply.code(), "INTERNAL_SERVER_ERROR", "{}", reply.text);
    app.stopped().await;
}
