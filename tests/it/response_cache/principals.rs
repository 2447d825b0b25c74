//! No client gets a response of another.

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc::ResponseCache;
use svc::authz::RowDecision;
use svc::db::SessionVariables;
use svc::prelude::*;
use svc_tests::{App, Socket};

use super::service::{Post, ask, database, options, serve, uncached_options};

async fn data(app: &App, document: &str, headers: &[(&str, &str)]) -> Value {
    ask(app, document, headers).await.data()
}

#[tokio::test]
async fn users_and_their_roles_are_in_the_key() {
    let database = database().await;
    let app = serve(options(&database)).await;
    let users = ["ada", "bob", "ada;editor", "bob;editor", "ada;editors"];
    for _ in 0..3 {
        for user in users {
            let (name, role) = user.split_once(';').unwrap_or((user, ""));
            let roles: Vec<_> = Some(role)
                .filter(|role| !role.is_empty())
                .into_iter()
                .collect();
            let expected = json!({ "who": format!("{name} {roles:?}") });
            assert_eq!(data(&app, "{ who }", &[("x-user", user)]).await, expected);
        }
        assert_eq!(data(&app, "{ who }", &[]).await, json!({ "who": "nobody" }));
    }
    let mut ticks =
        join_all(users.map(async |user| ask(&app, "{ tick }", &[("x-user", user)]).await.text))
            .await;
    ticks.sort();
    ticks.dedup();
    assert_eq!(ticks.len(), users.len(), "{ticks:?}");
}

#[tokio::test]
async fn requests_with_unknown_credentials_are_not_cached() {
    let database = database().await;
    let app = serve(options(&database)).await;
    let kept = data(&app, "{ tick }", &[]).await;
    for credentials in [
        ("cookie", "session=1"),
        ("authorization", "Basic eDp5"),
        ("authorization", "Bearer x"),
    ] {
        let first = ask(&app, "{ tick }", &[credentials]).await.data();
        assert_ne!(first, kept, "{credentials:?}");
        assert_ne!(
            ask(&app, "{ tick }", &[credentials]).await.data(),
            first,
            "{credentials:?}"
        );
    }
    assert_eq!(data(&app, "{ tick }", &[]).await, kept);
    // A user is known, whatever else the request has.
    let of_user = data(&app, "{ tick }", &[("x-user", "ada")]).await;
    assert_eq!(
        data(&app, "{ tick }", &[("x-user", "ada"), ("cookie", "a=1")]).await,
        of_user
    );
}

/// A socket keeps no `Authorization` among its headers, and is not public with it nevertheless.
#[tokio::test]
async fn sockets_with_unknown_credentials_are_not_cached() {
    let database = database().await;
    let app = serve(options(&database)).await;
    let kept = data(&app, "{ tick }", &[]).await;
    for authorization in ["Basic eDp5", "Digest x"] {
        let mut socket = Socket::open_with(&app, &[("authorization", authorization)]).await;
        socket.send(&json!({ "type": "connection_init" })).await;
        assert_eq!(socket.next().await["type"], "connection_ack");
        let mut seen = vec![kept.clone()];
        for id in ["1", "2"] {
            socket.subscribe(id, "{ tick }").await;
            let answer = socket.next().await["payload"]["data"].take();
            assert_eq!(socket.next().await, json!({ "type": "complete", "id": id }));
            assert!(
                answer["tick"].is_number() && !seen.contains(&answer),
                "{answer} after {seen:?}"
            );
            seen.push(answer);
        }
    }
    assert_eq!(data(&app, "{ tick }", &[]).await, kept);
}

const TENANTS: &str = "
    ALTER TABLE tb_post ENABLE ROW LEVEL SECURITY;
    ALTER TABLE tb_post FORCE ROW LEVEL SECURITY;
    CREATE POLICY tenants ON tb_post USING (owner = current_setting('app.owner', true));
    ALTER VIEW v_kept_post SET (security_invoker = true);";

async fn titles(app: &App, headers: &[(&str, &str)]) -> Value {
    let posts = data(app, "{ posts { title } }", headers).await;
    posts["posts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|post| post["title"].clone())
        .collect()
}

#[tokio::test]
async fn session_variables_are_in_the_key() {
    let database = database().await;
    database.execute(TENANTS).await;
    let role = format!("kept_{}", database.name());
    database
        .execute(&format!(
            "CREATE ROLE {role} LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"
        ))
        .await;
    let url = format!("{}&user={role}", database.url());
    let variables = SessionVariables::new().header("app.owner", "x-owner");
    let app = serve(
        options(&database)
            .database_url(url)
            .session_variables(variables),
    )
    .await;
    for _ in 0..3 {
        assert_eq!(titles(&app, &[("x-owner", "ada")]).await, json!(["one"]));
        assert_eq!(titles(&app, &[("x-owner", "bob")]).await, json!(["two"]));
        assert_eq!(titles(&app, &[]).await, json!([]));
    }
    let tick = async |owner| data(&app, "{ tick }", &[("x-owner", owner)]).await;
    assert_eq!(tick("ada").await, tick("ada").await);
    assert_ne!(tick("ada").await, tick("bob").await);
}

#[tokio::test]
async fn row_policies_are_in_the_key() {
    let database = database().await;
    let own = |ctx: &Context<'_>| match ctx.header("x-owner") {
        Some(owner) => Ok(RowDecision::allow_where(col("owner").eq(owner))),
        None => Ok(RowDecision::allow()),
    };
    let app = serve(options(&database).row_policy::<Post>(own)).await;
    for _ in 0..3 {
        assert_eq!(titles(&app, &[("x-owner", "ada")]).await, json!(["one"]));
        assert_eq!(titles(&app, &[("x-owner", "bob")]).await, json!(["two"]));
        assert_eq!(titles(&app, &[]).await, json!(["one", "two"]));
    }
    let before = database.statements("v_kept_post").await;
    titles(&app, &[("x-owner", "ada")]).await;
    assert_eq!(database.statements("v_kept_post").await, before);
}

#[tokio::test]
async fn the_program_adds_headers_and_values_to_the_key() {
    let database = database().await;
    let cache = ResponseCache::new().header("accept-language").key(|ctx| {
        let tenant = ctx.header("x-tenant").unwrap_or("none");
        (tenant != "secret").then(|| tenant.to_owned())
    });
    let app = serve(uncached_options(&database).response_cache(cache)).await;
    for language in ["de", "fr", "de", "fr"] {
        assert_eq!(
            data(&app, "{ language }", &[("accept-language", language)]).await["language"],
            language
        );
    }
    let tick = async |tenant| data(&app, "{ tick }", &[("x-tenant", tenant)]).await;
    assert_eq!(tick("a").await, tick("a").await);
    assert_ne!(tick("a").await, tick("b").await);
    assert_ne!(tick("secret").await, tick("secret").await);
}

#[tokio::test]
async fn a_key_that_panics_leaves_the_answer_uncached() {
    let database = database().await;
    let cache = ResponseCache::new().key(|ctx| {
        let tenant = ctx.header("x-tenant").unwrap_or("none");
        assert_ne!(tenant, "secret", "a tenant without a key");
        Some(tenant.to_owned())
    });
    let app = serve(uncached_options(&database).response_cache(cache)).await;
    let tick = async |tenant| data(&app, "{ tick }", &[("x-tenant", tenant)]).await;
    assert_ne!(tick("secret").await, tick("secret").await);
    assert_eq!(tick("a").await, tick("a").await);
}

#[tokio::test]
async fn request_data_requires_an_explicit_key() {
    let database = database().await;
    struct Tenant;
    let options = || uncached_options(&database).request_data(async |_| Ok(Tenant));
    let refused = create_svc_app(options().response_cache(ResponseCache::new()))
        .await
        .unwrap_err()
        .to_string();
    assert!(refused.contains("ResponseCache::new().key"), "{refused}");
    let said = ResponseCache::new().key(|ctx| ctx.data::<Tenant>().ok().map(|_| String::new()));
    let app = serve(options().response_cache(said)).await;
    assert_eq!(
        data(&app, "{ tick }", &[]).await,
        data(&app, "{ tick }", &[]).await
    );
    let refused = ResponseCache::new().header("no header");
    assert!(
        create_svc_app(uncached_options(&database).response_cache(refused))
            .await
            .is_err()
    );
}
