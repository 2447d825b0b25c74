//! API keys: a table of hashes.

use std::time::Duration;

use serde_json::{Value, json};
use svc::ApiKeys;
use svc::futures_util::stream;
use svc::prelude::*;
use svc_tests::{App, Events, Reply, Socket, TestDatabase, eventually};

use super::service::{options, provider, query};
use super::token::{USER, token};

/// A database with keys, and a role for the service that owns nothing of it.
async fn database() -> TestDatabase {
    let database = TestDatabase::new(ApiKeys::SCHEMA).await;
    database.execute(ApiKeys::SCHEMA).await;
    database
}

async fn issue(database: &TestDatabase, end: &str) -> String {
    let sql = "SELECT svc_issue_api_key('robot-7', 'Robot', '{importer}', '{posts:read,posts:write}', now() + $1::interval)";
    let pool = database.pool().await;
    let key = svc::sqlx::query_scalar(sql)
        .bind(end)
        .fetch_one(&pool)
        .await
        .unwrap();
    pool.close().await;
    key
}

/// Never has an event.
#[svc::subscription]
fn waits() -> impl Stream<Item = bool> {
    stream::pending()
}

async fn serve(database: &TestDatabase, keep_for: Duration) -> App {
    let options = options()
        .database_url(database.url())
        .subscriptions(subscriptions![waits])
        .auth_provider(provider());
    App::serve(options.api_keys(ApiKeys::new().keep_for(keep_for))).await
}

async fn me(app: &App, key: &str) -> Reply {
    query(app, key, "{ me }").await
}

fn reason(reply: &Reply) -> Value {
    reply.json()["errors"][0]["extensions"]["reason"].clone()
}

#[tokio::test]
async fn an_api_key_identifies_the_user_beside_other_tokens() {
    let database = database().await;
    let key = issue(&database, "1 hour").await;
    let app = serve(&database, Duration::from_secs(60)).await;
    let user = me(&app, &key).await.data()["me"].clone();
    assert_eq!(
        (&user["user_id"], &user["name"]),
        (&json!("robot-7"), &json!("Robot"))
    );
    assert_eq!(
        (&user["roles"], &user["permissions"]),
        (&json!(["importer"]), &json!(["posts:read", "posts:write"]))
    );
    assert_eq!(
        me(&app, &token(json!({}))).await.data()["me"]["user_id"],
        USER
    );
    assert_eq!(
        me(&app, &issue(&database, "1 hour").await).await.data()["me"]["user_id"],
        "robot-7"
    );
}

#[tokio::test]
async fn expired_revoked_and_altered_keys_are_refused() {
    let database = database().await;
    let (key, ended) = (
        issue(&database, "1 hour").await,
        issue(&database, "-1 second").await,
    );
    let app = serve(&database, Duration::ZERO).await;
    assert_eq!(reason(&me(&app, &ended).await), "TOKEN_EXPIRED");
    let last = if key.ends_with('0') { "1" } else { "0" };
    let altered = format!("{}{last}", &key[..key.len() - 1]);
    for bad in [
        &altered,
        &key[..key.len() - 1],
        &format!("{key}0"),
        &key.to_uppercase(),
        &key[4..],
        "svc_",
    ] {
        assert_eq!(reason(&me(&app, bad).await), "TOKEN_INVALID", "{bad}");
    }
    me(&app, &key).await.data();
    database
        .execute("UPDATE svc_api_key SET revoked_at = now()")
        .await;
    assert_eq!(reason(&me(&app, &key).await), "TOKEN_INVALID");
}

#[tokio::test]
async fn a_revoked_key_is_refused_once_its_cache_entry_expires() {
    let database = database().await;
    let key = issue(&database, "1 hour").await;
    let app = serve(&database, Duration::from_secs(1)).await;
    me(&app, &key).await.data();
    database
        .execute("UPDATE svc_api_key SET revoked_at = now()")
        .await;
    eventually(async || match reason(&me(&app, &key).await) {
        reason if reason == "TOKEN_INVALID" => Ok(()),
        reason => Err(format!("{reason}")),
    })
    .await;
}

/// Although requests with the key are answered from the cache.
#[tokio::test]
async fn a_revoked_or_deleted_key_ends_its_sockets_and_streams() {
    for end in [
        "UPDATE svc_api_key SET revoked_at = now() WHERE name = 'Robot'",
        "DELETE FROM svc_api_key WHERE name = 'Robot'",
    ] {
        let database = database().await;
        let (key, other) = (
            issue(&database, "1 hour").await,
            issue(&database, "1 hour").await,
        );
        database
            .execute("UPDATE svc_api_key SET name = 'Other' WHERE id = (SELECT id FROM svc_api_key ORDER BY created_at DESC LIMIT 1)")
            .await;
        let app = serve(&database, Duration::from_secs(600)).await;
        let open = async |token: &str| {
            let authorization = format!("Bearer {token}");
            Socket::ready_with(&app, json!({ "authorization": authorization })).await
        };
        let (mut socket, mut kept) = (open(&key).await, open(&other).await);
        let mut of_token = open(&token(json!({}))).await;
        let request = app.request("GET", "/graphql?query=subscription{waits}");
        let events = Events::of(
            request
                .header("accept", "text/event-stream")
                .bearer_auth(&key),
        )
        .await;
        database.execute(end).await;
        assert_eq!(
            socket.closed().await,
            (4403, "the token is not valid".to_owned()),
            "{end}"
        );
        let text = events.whole().await;
        assert!(text.contains("TOKEN_INVALID"), "{text}");
        for socket in [&mut kept, &mut of_token] {
            socket.send(&json!({ "type": "ping" })).await;
            assert_eq!(socket.next().await["type"], "pong");
        }
    }
}

/// Neither a reader of the table nor the role of the service can recover a key.
#[tokio::test]
async fn api_keys_are_stored_as_hashes_that_the_service_cannot_list() {
    let database = database().await;
    let key = issue(&database, "1 hour").await;
    let pool = database.pool().await;
    let row: String = svc::sqlx::query_scalar("SELECT k::text FROM svc_api_key k")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert!(!row.contains(&key[4..]), "{row}");
    let allowed: Vec<bool> = svc::sqlx::query_scalar(
        "SELECT allowed FROM (VALUES (has_table_privilege('pg_read_all_stats', 'svc_api_key', 'SELECT')),
             (has_function_privilege('pg_read_all_stats',
                 'svc_issue_api_key(text, text, text[], text[], timestamptz)', 'EXECUTE')),
             (has_function_privilege('pg_read_all_stats', 'svc_api_key_user(text)', 'EXECUTE'))) AS v (allowed)",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    assert_eq!(allowed, [false, false, true]);
    pool.close().await;
}

/// Default privileges also apply to the table and to the function that issues keys.
#[tokio::test]
async fn default_privileges_let_no_role_list_or_issue_api_keys() {
    for place in ["", "IN SCHEMA public"] {
        let database = TestDatabase::new(&format!(
            "DO $do$ BEGIN EXECUTE format(
                 'CREATE ROLE %1$I; ALTER DEFAULT PRIVILEGES {place} GRANT SELECT ON TABLES TO %1$I;
                  ALTER DEFAULT PRIVILEGES {place} GRANT EXECUTE ON FUNCTIONS TO %1$I',
                 'issues_' || current_database());
             END $do$;
             CREATE TABLE tb_other ();"
        ))
        .await;
        let pool = database.pool().await;
        for _ in 0..2 {
            database.execute(ApiKeys::SCHEMA).await;
            let allowed: Vec<bool> = svc::sqlx::query_scalar(
                "SELECT allowed FROM (SELECT ('issues_' || current_database())::name) AS of_test (role), LATERAL (VALUES
                     (has_table_privilege(role, 'svc_api_key', 'SELECT')),
                     (has_function_privilege(role,
                         'svc_issue_api_key(text, text, text[], text[], timestamptz)', 'EXECUTE')),
                     (has_function_privilege(role, 'svc_api_key_user(text)', 'EXECUTE')),
                     (has_table_privilege(role, 'tb_other', 'SELECT'))) AS v (allowed)",
            )
            .fetch_all(&pool)
            .await
            .unwrap();
            assert_eq!(allowed, [false, false, true, true], "{place}");
        }
        pool.close().await;
    }
}

/// Also to a role with default privileges, which are revoked from it at first.
#[tokio::test]
async fn grants_of_the_owner_outlast_the_schema_when_it_is_run_again() {
    let database = TestDatabase::new(
        "DO $do$ BEGIN EXECUTE format(
             'CREATE ROLE %1$I; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO %1$I;
              ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO %1$I',
             'granted_' || current_database());
         END $do$;",
    )
    .await;
    database.execute(ApiKeys::SCHEMA).await;
    database
        .execute(
            "DO $do$ BEGIN EXECUTE format(
                 'GRANT SELECT ON svc_api_key TO %1$I;
                  GRANT EXECUTE ON FUNCTION svc_issue_api_key(text, text, text[], text[], timestamptz) TO %1$I',
                 'granted_' || current_database());
             END $do$;",
        )
        .await;
    database.execute(ApiKeys::SCHEMA).await;
    let pool = database.pool().await;
    let allowed: Vec<bool> = svc::sqlx::query_scalar(
        "SELECT allowed FROM (SELECT ('granted_' || current_database())::name) AS of_test (role), LATERAL (VALUES
             (has_table_privilege(role, 'svc_api_key', 'SELECT')),
             (has_table_privilege(role, 'svc_api_key', 'INSERT')),
             (has_function_privilege(role,
                 'svc_issue_api_key(text, text, text[], text[], timestamptz)', 'EXECUTE'))) AS v (allowed)",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    assert_eq!(allowed, [true, false, true]);
    pool.close().await;
}

#[tokio::test]
async fn api_keys_are_unavailable_without_the_database() {
    let app = App::serve(options().api_keys(ApiKeys::new())).await;
    let reply = me(&app, &format!("svc_{}", "0".repeat(64))).await;
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (503, "SERVICE_UNAVAILABLE")
    );
    assert_eq!(reason(&me(&app, "another").await), "TOKEN_INVALID");
}
