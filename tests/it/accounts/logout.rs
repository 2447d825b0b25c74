//! Logging out.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use svc::accounts::PostgresUserRepository;

use super::client::{
    Held, PASSWORD, assert_accepted, assert_refused, login, refresh, register, with,
};
use super::service::{SECRET, accounts, factory, provider, serve, serve_provider};

/// All tokens of the session, on every path and every instance; those of other sessions stay valid.
#[tokio::test]
async fn a_log_out_ends_the_tokens_of_its_session() {
    let service = serve().await;
    let accounts = accounts(&service.database);
    let other = serve_provider(&provider(
        factory(&accounts),
        PostgresUserRepository::new(&accounts),
    ))
    .await;
    let first = register(&service.app, "ada").await;
    let second = Held::of(&refresh(&service.app, &first.refresh).await);
    let kept = Held::of(&login(&service.app, "ada", PASSWORD).await);
    for app in [&service.app, &other] {
        assert_accepted(app, &first).await;
        assert_accepted(app, &second).await;
    }
    let reply = with(
        &service.app,
        &second.access,
        "POST",
        "/auth/logout",
        Value::Null,
    )
    .await;
    assert_eq!(
        (reply.status, reply.json()),
        (200, json!({ "message": "logged out" }))
    );
    for app in [&service.app, &other] {
        assert_refused(app, &first).await;
        assert_refused(app, &second).await;
        assert_accepted(app, &kept).await;
    }
}

/// It ends every token issued before it, and none issued after it.
#[tokio::test]
async fn a_log_out_everywhere_ends_exactly_the_earlier_tokens() {
    let service = serve().await;
    let stranger = register(&service.app, "eve").await;
    let mut before = vec![register(&service.app, "ada").await];
    for _ in 0..5 {
        before.push(Held::of(&login(&service.app, "ada", PASSWORD).await));
        before.push(Held::of(
            &refresh(&service.app, &before.last().unwrap().refresh).await,
        ));
    }
    let last = before.last().unwrap();
    let reply = with(
        &service.app,
        &last.access,
        "POST",
        "/auth/logout-all",
        Value::Null,
    )
    .await;
    // In the same second.
    let after = Held::of(&login(&service.app, "ada", PASSWORD).await);
    assert_eq!(
        (reply.status, reply.json()),
        (200, json!({ "message": "logged out everywhere" }))
    );
    let renewed = Held::of(&refresh(&service.app, &after.refresh).await);
    for held in &before {
        assert_refused(&service.app, held).await;
    }
    for held in [&after, &renewed, &stranger] {
        assert_accepted(&service.app, held).await;
    }
}

/// The clocks of instances differ, so that of the database decides which tokens are earlier.
#[tokio::test]
async fn tokens_are_dated_by_the_clock_of_the_database() {
    let service = serve().await;
    // The functions of the accounts see this one first: a database two hours ahead of the instance.
    let ahead = "CREATE FUNCTION svc_auth.clock_timestamp() RETURNS timestamptz LANGUAGE sql \
                 AS $$ SELECT pg_catalog.clock_timestamp() + interval '2 hours' $$; \
                 GRANT EXECUTE ON FUNCTION svc_auth.clock_timestamp() TO PUBLIC";
    service.database.execute(ahead).await;
    let before = register(&service.app, "ada").await;
    let ahead_by = issued_at(&before.access) - now();
    assert!((7_000.0..7_400.0).contains(&ahead_by), "{ahead_by}");
    assert_eq!(
        with(
            &service.app,
            &before.access,
            "POST",
            "/auth/logout-all",
            Value::Null
        )
        .await
        .status,
        200
    );
    let after = Held::of(&login(&service.app, "ada", PASSWORD).await);
    let renewed = Held::of(&refresh(&service.app, &after.refresh).await);
    assert_refused(&service.app, &before).await;
    for held in [&after, &renewed] {
        assert_accepted(&service.app, held).await;
    }
}

fn now() -> f64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs_f64()
}

fn issued_at(token: &str) -> f64 {
    let claims = URL_SAFE_NO_PAD
        .decode(token.split('.').nth(1).unwrap())
        .unwrap();
    serde_json::from_slice::<Value>(&claims).unwrap()["iat"]
        .as_f64()
        .unwrap()
}

/// A refresh at the same moment gives no token that outlives the log-out.
#[tokio::test]
async fn a_concurrent_refresh_does_not_escape_a_log_out_everywhere() {
    let service = serve().await;
    register(&service.app, "ada").await;
    for _ in 0..10 {
        let held = Held::of(&login(&service.app, "ada", PASSWORD).await);
        let breaker = Held::of(&login(&service.app, "ada", PASSWORD).await);
        let (renewed, ended) = tokio::join!(
            refresh(&service.app, &held.refresh),
            with(
                &service.app,
                &breaker.access,
                "POST",
                "/auth/logout-all",
                Value::Null
            )
        );
        assert_eq!(ended.status, 200);
        assert_refused(&service.app, &held).await;
        if renewed.status == 200 {
            assert_refused(&service.app, &Held::of(&renewed)).await;
        }
    }
}

/// The token of an instance whose clock is ahead, and one from before the clock was set back.
#[tokio::test]
async fn a_log_out_everywhere_ends_tokens_issued_by_fast_clocks() {
    let service = serve().await;
    let held = register(&service.app, "ada").await;
    let other = Held::of(&login(&service.app, "ada", PASSWORD).await);
    let ahead = |held: &Held| {
        let payload = held.access.split('.').nth(1).unwrap();
        let mut claims: Value =
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap();
        claims["iat"] = json!(claims["iat"].as_f64().unwrap() + 50.0);
        let payload = URL_SAFE_NO_PAD.encode(claims.to_string());
        let access = crate::auth::sign(
            r#"{"alg":"HS256","typ":"JWT"}"#,
            &payload,
            SECRET.as_bytes(),
        );
        Held {
            access,
            refresh: held.refresh.clone(),
        }
    };
    let (first, second) = (ahead(&held), ahead(&other));
    for held in [&first, &second] {
        assert_accepted(&service.app, held).await;
    }
    assert_eq!(
        with(
            &service.app,
            &first.access,
            "POST",
            "/auth/logout-all",
            Value::Null
        )
        .await
        .status,
        200
    );
    for held in [&first, &second, &held, &other] {
        assert_refused(&service.app, held).await;
    }
    assert_accepted(
        &service.app,
        &Held::of(&login(&service.app, "ada", PASSWORD).await),
    )
    .await;
}
