//! The header that brings the token, on every path, and what the answer says of it.

use serde_json::json;
use svc::auth::UserContext;
use svc::axum::Extension;
use svc::create_svc_app;
use svc_tests::App;

use super::service::{options, posting, provider, query, serve};
use super::token::{USER, now, token};

#[tokio::test]
async fn a_token_identifies_the_user_on_every_path() {
    let mut options = options().auth_provider(provider());
    options = options.operations([svc::Operation::new("query Who { user_id }")]);
    let app = App::serve(options).await;
    let held = token(json!({}));
    let mine = json!({ "user_id": USER });
    assert_eq!(query(&app, &held, "{ user_id }").await.data(), mine);
    let get = app
        .request("GET", "/graphql?query={user_id}")
        .bearer_auth(&held);
    assert_eq!(app.send(get).await.data(), mine);
    let registered = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .bearer_auth(&held);
    assert_eq!(
        app.send(registered.body(r#"{"documentId": "Who"}"#))
            .await
            .data(),
        mine
    );
    assert_eq!(
        app.query("{ user_id }").await.data(),
        json!({ "user_id": null })
    );
}

/// Open fields are answered, and guarded fields give the reason.
#[tokio::test]
async fn an_invalid_token_leaves_the_request_anonymous() {
    let app = serve().await;
    let none = app.query("{ open me }").await;
    assert_eq!(
        (none.status, none.code().as_str(), none.message().as_str()),
        (200, "UNAUTHENTICATED", "authentication required")
    );
    assert_eq!(
        none.json()["errors"][0]["extensions"],
        json!({ "code": "UNAUTHENTICATED" })
    );
    assert!(!none.headers.contains_key("www-authenticate"));

    let expired = token(json!({ "exp": now() - 1 }));
    let altered = format!("{}A", token(json!({})));
    for (bad, reason) in [(&expired, "TOKEN_EXPIRED"), (&altered, "TOKEN_INVALID")] {
        let reply = query(&app, bad, "{ open me }").await;
        assert_eq!(
            reply.json()["errors"][0]["extensions"],
            json!({ "code": "UNAUTHENTICATED", "reason": reason })
        );
        let challenge = reply.headers["www-authenticate"].to_str().unwrap();
        assert!(
            challenge.starts_with("Bearer error=\"invalid_token\""),
            "{challenge}"
        );
        assert!(!reply.text.contains(bad.as_str()));
        assert_eq!(
            query(&app, bad, "{ open user_id }").await.data(),
            json!({ "open": true, "user_id": null })
        );
    }
}

#[tokio::test]
async fn a_service_that_requires_a_user_refuses_anonymous_requests() {
    let app = App::serve(options().auth_provider(provider()).auth_required(true)).await;
    let none = app.query("{ open }").await;
    assert_eq!(
        (none.status, none.code().as_str()),
        (401, "UNAUTHENTICATED")
    );
    assert_eq!(none.headers["www-authenticate"], "Bearer");
    assert!(none.json().get("data").is_none(), "{}", none.text);
    assert_eq!(app.get("/graphql?query={open}").await.status, 401);
    let expired = query(&app, &token(json!({ "exp": now() - 1 })), "{ open }").await;
    assert_eq!(
        (
            expired.status,
            expired.json()["errors"][0]["extensions"]["reason"].as_str()
        ),
        (401, Some("TOKEN_EXPIRED"))
    );
    assert_eq!(
        query(&app, &token(json!({})), "{ open }").await.data(),
        json!({ "open": true })
    );
    assert_eq!(app.get("/health").await.status, 200);
}

/// Which of two headers a proxy in front has checked is unknown, so neither is accepted.
#[tokio::test]
async fn only_one_header_with_one_token_is_accepted() {
    let app = serve().await;
    let held = token(json!({}));
    let ask = async |values: &[&str]| {
        let request = values
            .iter()
            .fold(posting(&app, "{ user_id }"), |request, value| {
                request.header("authorization", value.replace("TOKEN", &held))
            });
        app.send(request).await
    };
    for good in ["Bearer TOKEN", "bearer TOKEN", "BEARER  TOKEN"] {
        assert_eq!(
            ask(&[good]).await.data(),
            json!({ "user_id": USER }),
            "{good}"
        );
    }
    let padded = format!("Bearer {}", "a".repeat(8193));
    for bad in [
        &["Bearer TOKEN", "Bearer TOKEN"][..],
        &["Basic YTpi", "Bearer TOKEN"],
        &["Bearer TOKEN, Bearer TOKEN"],
        &["Bearer"],
        &["Bearer\tTOKEN"],
        &["Bearer \tTOKEN"],
        &["Bearer TOKEN TOKEN"],
        &["Bearer \"TOKEN\""],
        &[&padded],
    ] {
        let reply = ask(bad).await;
        assert_eq!(reply.data(), json!({ "user_id": null }), "{bad:?}");
        assert!(reply.headers.contains_key("www-authenticate"), "{bad:?}");
    }
    for other in ["Basic YTpi", "TOKEN", "Bearers TOKEN"] {
        let reply = ask(&[other]).await;
        assert_eq!(reply.data(), json!({ "user_id": null }), "{other}");
        assert!(!reply.headers.contains_key("www-authenticate"), "{other}");
    }
}

/// At the limit, and one byte above it.
#[tokio::test]
async fn a_token_has_at_most_8192_bytes() {
    let app = serve().await;
    let of = |bytes: usize| {
        let padded = (5_500..6_200).map(|padding| token(json!({ "padding": "x".repeat(padding) })));
        padded
            .into_iter()
            .find(|token| token.len() == bytes)
            .unwrap()
    };
    assert_eq!(
        query(&app, &of(8_192), "{ user_id }").await.data(),
        json!({ "user_id": USER })
    );
    assert_eq!(
        query(&app, &of(8_193), "{ user_id }").await.data(),
        json!({ "user_id": null })
    );
}

/// With and without a provider, and also if a user is required.
#[tokio::test]
async fn a_user_set_by_an_application_layer_takes_precedence() {
    let user = UserContext::new("gateway-7").roles(["editor"]);
    for options in [
        options(),
        options().auth_provider(provider()),
        options().auth_required(true),
    ] {
        let router = create_svc_app(options)
            .await
            .unwrap()
            .layer(Extension(user.clone()));
        let app = App::serve_router(router).await;
        let mine = json!({ "user_id": "gateway-7" });
        assert_eq!(app.query("{ user_id }").await.data(), mine);
        let reply = query(&app, &token(json!({})), "{ user_id }").await;
        assert_eq!(reply.data(), mine);
        assert_eq!(
            query(&app, "nonsense", "{ me }").await.data()["me"]["roles"],
            json!(["editor"])
        );
    }
}
