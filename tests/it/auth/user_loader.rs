//! Users to whom the application adds what it knows.

use std::time::Duration;

use serde_json::{Value, json};
use svc::db::{SessionVariables, col};
use svc::prelude::*;
use svc_tests::{App, Log, Reply, TestDatabase, eventually};

use super::service::{me, open, provider, query, user_id};
use super::token::{USER, now, token};

#[svc_type(sql_source = "v_account")]
struct Account {
    id: i32,
    user_id: Uuid,
    role: String,
    suspended: bool,
    seen_by: String,
}

const SCHEMA: &str = "
    CREATE TABLE account (id int PRIMARY KEY, user_id uuid, role text, suspended bool);
    INSERT INTO account VALUES (1, '6f9619ff-8b86-4011-b42d-00c04fc964ff', 'editor', false);
    CREATE VIEW v_account AS SELECT *, current_setting('app.user_id') || '/' || current_setting('app.language') AS seen_by,
        '{}'::jsonb AS data FROM account;";

async fn load(user: svc::AuthenticatedUser) -> svc::Result<Option<svc::UserContext>> {
    let id: Uuid = user.user().user_id.parse()?;
    let accounts = user
        .db()
        .find::<Account>()
        .filter(col("user_id").eq(id))
        .await?;
    let seen_by = accounts.first().map(|account| account.seen_by.clone());
    let known = user.claims().text("tenant").map(str::to_owned);
    if accounts.iter().any(|account| account.suspended) {
        return Ok(None);
    }
    let roles = accounts.into_iter().map(|account| account.role);
    Ok(Some(
        user.into_user()
            .roles(roles)
            .metadata("seen_by", seen_by)
            .metadata("known", known),
    ))
}

async fn serve(url: String, keep_for: Duration) -> App {
    let variables = SessionVariables::new()
        .user_id("app.user_id")
        .header("app.language", "accept-language");
    let options = AppOptions::new()
        .database_url(url)
        .queries(queries![open, user_id, me]);
    let options = options.internal_types(types![Account]);
    assert!(
        !options.sdl().unwrap().contains("Account"),
        "{}",
        options.sdl().unwrap()
    );
    App::serve(
        options
            .session_variables(variables)
            .auth_provider(provider())
            .load_user(keep_for, load),
    )
    .await
}

async fn asking(app: &App) -> Reply {
    query(
        app,
        &token(json!({ "tenant": "acme", "roles": ["reader"], "iat": now() / 100 * 100 })),
        "{ me }",
    )
    .await
}

#[tokio::test]
async fn the_user_loader_adds_roles_and_metadata() {
    let database = TestDatabase::new(SCHEMA).await;
    let app = serve(database.url(), Duration::from_secs(60)).await;
    let me = asking(&app).await.data()["me"].clone();
    assert_eq!(me["roles"], json!(["reader", "editor"]));
    assert_eq!(
        (&me["metadata"]["known"], &me["metadata"]["seen_by"]),
        (&json!("acme"), &json!(format!("{USER}/")))
    );
}

/// And not much earlier.
#[tokio::test]
async fn a_removed_role_disappears_when_the_cached_user_expires() {
    let database = TestDatabase::new(SCHEMA).await;
    let (soon, late) = (serve(database.url(), Duration::from_secs(2)).await, {
        serve(database.url(), Duration::from_secs(3_600)).await
    });
    let held = token(json!({}));
    let roles =
        async |app: &App| query(app, &held, "{ me }").await.json()["data"]["me"]["roles"].clone();
    for app in [&soon, &late] {
        assert_eq!(roles(app).await, json!(["editor"]));
    }
    database
        .execute("UPDATE account SET role = 'nothing'")
        .await;
    eventually(async || match roles(&soon).await {
        Value::Array(roles) if roles == ["nothing"] => Ok(()),
        other => Err(other.to_string()),
    })
    .await;
    assert_eq!(roles(&late).await, json!(["editor"]));
}

#[tokio::test]
async fn a_suspended_account_is_unauthenticated() {
    let database = TestDatabase::new(SCHEMA).await;
    let app = serve(database.url(), Duration::ZERO).await;
    assert_eq!(asking(&app).await.data()["me"]["user_id"], USER);
    database
        .execute("UPDATE account SET suspended = true")
        .await;
    let reply = asking(&app).await;
    assert_eq!(reply.code(), "UNAUTHENTICATED");
    assert_eq!(
        reply.json()["errors"][0]["extensions"]["reason"],
        "TOKEN_INVALID"
    );
}

/// No token is accepted without its user.
#[tokio::test]
async fn authentication_is_unavailable_without_the_database() {
    let app = serve(
        "postgres://nobody@127.0.0.1:1/nothing".to_owned(),
        Duration::from_secs(60),
    )
    .await;
    let reply = asking(&app).await;
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (503, "SERVICE_UNAVAILABLE")
    );
    assert_eq!(app.query("{ open }").await.data(), json!({ "open": true }));
}

/// With the call that reads it, if the program lists the type nowhere.
#[tokio::test]
async fn an_unlisted_type_is_named_in_the_log() {
    let log = Log::start();
    let database = TestDatabase::new(SCHEMA).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .queries(queries![open, user_id, me]);
    let app = App::serve(
        options
            .auth_provider(provider())
            .load_user(Duration::from_secs(60), load),
    )
    .await;
    assert_eq!(asking(&app).await.code(), "SERVICE_UNAVAILABLE");
    log.has("user_loader::Account>()` reads a type that no list of the program has; add it with `.internal_types(")
        .await;
}

/// Clients do not see the type, and cannot select its fields.
#[tokio::test]
async fn an_internal_type_is_not_in_the_schema() {
    let database = TestDatabase::new(SCHEMA).await;
    let app = serve(database.url(), Duration::from_secs(60)).await;
    let ask = async |document: &str| query(&app, &token(json!({})), document).await;
    let types = ask("{ __schema { types { name } } }")
        .await
        .data()
        .to_string();
    assert!(
        types.contains("Query") && !types.contains("Account"),
        "{types}"
    );
    assert_eq!(
        ask("{ __type(name: \"Account\") { name } }").await.data()["__type"],
        Value::Null
    );
    assert_eq!(
        ask("{ open ... on Account { role } }").await.code(),
        "GRAPHQL_VALIDATION_FAILED"
    );
}
