//! The custom provider: the specification's five rules.

use serde_json::{Value, json};
use svc::auth::{MultiProvider, SignedTokenProvider};
use svc_tests::{App, Reply, eventually};

use super::service::{options, provider, query, serve};
use super::token::{SECRET, USER, claims, now, signed, token};

async fn me(app: &App, token: &str) -> Reply {
    query(app, token, "{ me }").await
}

async fn reason(app: &App, token: &str) -> Value {
    let reply = me(app, token).await;
    assert_eq!(reply.code(), "UNAUTHENTICATED");
    assert_eq!(reply.json()["data"], Value::Null, "{}", reply.text);
    reply.json()["errors"][0]["extensions"]["reason"].clone()
}

#[tokio::test]
async fn claims_become_the_user() {
    let app = serve().await;
    let full = json!({
        "email": "ada@example.com", "name": "Ada", "roles": ["editor"], "permissions": ["posts:write"],
        "tenant": "acme", "jti": "7", "scope": "ignored here", "iss": "any", "aud": 7,
    });
    let expected = json!({
        "user_id": USER, "email": "ada@example.com", "name": "Ada", "roles": ["editor"],
        "permissions": ["posts:write"], "metadata": { "tenant": "acme", "jti": "7", "scope": "ignored here" },
    });
    let mut answer = me(&app, &token(full)).await.data()["me"].clone();
    assert_eq!(answer, expected);
    answer = me(&app, &token(json!({ "scope": "posts:read posts:write" })))
        .await
        .data()["me"]
        .clone();
    assert_eq!(answer["permissions"], json!(["posts:read", "posts:write"]));
    assert_eq!(
        (&answer["roles"], &answer["email"]),
        (&json!([]), &Value::Null)
    );
}

#[tokio::test]
async fn the_user_id_is_a_uuid_from_sub_or_else_user_id() {
    let app = serve().await;
    let other = "11111111-2222-4333-8444-555555555555";
    for (more, id) in [
        (json!({ "sub": USER.to_uppercase() }), USER),
        (json!({ "sub": null, "user_id": other }), other),
        (json!({ "user_id": other }), USER),
    ] {
        assert_eq!(me(&app, &token(more)).await.data()["me"]["user_id"], id);
    }
    for more in [
        json!({ "sub": "ada" }),
        json!({ "sub": "ada", "user_id": other }),
        json!({ "sub": 7 }),
        json!({ "sub": "" }),
        json!({ "sub": null }),
        json!({ "sub": [USER] }),
    ] {
        assert_eq!(
            reason(&app, &token(more.clone())).await,
            "TOKEN_INVALID",
            "{more}"
        );
    }
}

#[tokio::test]
async fn signature_and_expiry_are_always_verified() {
    let app = serve().await;
    let header = r#"{"alg":"HS256"}"#;
    let good = claims(json!({})).to_string();
    assert_eq!(
        me(&app, &signed(header, &good, SECRET)).await.data()["me"]["user_id"],
        USER
    );
    assert_eq!(
        reason(
            &app,
            &signed(header, &good, b"another secret of more than 32 bytes.")
        )
        .await,
        "TOKEN_INVALID"
    );
    assert_eq!(
        reason(&app, &signed(r#"{"alg":"none"}"#, &good, SECRET)).await,
        "TOKEN_INVALID"
    );
    assert_eq!(
        reason(&app, &signed(r#"{"alg":"HS512"}"#, &good, SECRET)).await,
        "TOKEN_INVALID"
    );
    assert_eq!(
        reason(&app, &token(json!({ "exp": now() }))).await,
        "TOKEN_EXPIRED"
    );
    assert_eq!(
        reason(&app, &token(json!({ "exp": null }))).await,
        "TOKEN_INVALID"
    );
    assert_eq!(
        reason(&app, &token(json!({ "nbf": now() + 60 }))).await,
        "TOKEN_INVALID"
    );
    let twice = format!("{{\"sub\":\"{USER}\",{}", &good[1..]);
    assert_eq!(
        reason(&app, &signed(header, &twice, SECRET)).await,
        "TOKEN_INVALID"
    );
}

#[tokio::test]
async fn issuer_and_audience_are_verified_if_configured() {
    let app = App::serve(
        options().auth_provider(provider().issuer("https://id.example").audience("shop")),
    )
    .await;
    let held = |more: Value| {
        let mut all = json!({ "iss": "https://id.example", "aud": ["shop", "bank"] });
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        token(all)
    };
    for good in [json!({}), json!({ "aud": "shop" })] {
        assert_eq!(
            me(&app, &held(good.clone())).await.data()["me"]["user_id"],
            USER,
            "{good}"
        );
    }
    for name in ["iss", "aud"] {
        for bad in [
            json!(null),
            json!(""),
            json!("https://id.example/"),
            json!(7),
            json!(true),
            json!({}),
            json!([]),
        ] {
            assert_eq!(
                reason(&app, &held(json!({ name: bad }))).await,
                "TOKEN_INVALID",
                "{name} {bad}"
            );
        }
    }
}

/// A repeated token is not verified again, and is refused as soon as it has expired.
#[tokio::test]
async fn a_cached_token_expires_on_time() {
    let app = serve().await;
    // On a busy machine one may end before it is asked with.
    let (short, end) = eventually(async || {
        let end = now() + 2;
        let short = token(json!({ "exp": end }));
        let reply = me(&app, &short).await;
        if reply.json()["data"]["me"]["user_id"] == USER {
            Ok((short, end))
        } else {
            Err(reply.text)
        }
    })
    .await;
    eventually(async || {
        let reply = query(&app, &short, "{ user_id }").await;
        if reply.data()["user_id"] == Value::Null {
            Ok(())
        } else {
            Err(reply.text)
        }
    })
    .await;
    assert!(now() >= end, "it was refused before its time");
    assert_eq!(reason(&app, &short).await, "TOKEN_EXPIRED");
}

#[tokio::test]
async fn the_first_provider_that_accepts_a_token_decides() {
    let other: &[u8] = b"the secret of another provider, also long enough";
    let second = SignedTokenProvider::with_secret(other).unwrap();
    let app =
        App::serve(options().auth_provider(MultiProvider::new().or(provider()).or(second))).await;
    let header = r#"{"alg":"HS256"}"#;
    for secret in [SECRET, other] {
        let held = signed(header, &claims(json!({})).to_string(), secret);
        assert_eq!(me(&app, &held).await.data()["me"]["user_id"], USER);
        let expired = signed(
            header,
            &claims(json!({ "exp": now() - 1 })).to_string(),
            secret,
        );
        assert_eq!(reason(&app, &expired).await, "TOKEN_EXPIRED");
    }
    let nobodys = signed(
        header,
        &claims(json!({})).to_string(),
        b"a secret that no provider knows of at all",
    );
    assert_eq!(reason(&app, &nobodys).await, "TOKEN_INVALID");
}
