//! The user of a socket or a stream as it begins, and the connections that one user may have.

use serde_json::{Value, json};
use svc::prelude::*;
use svc::{AuthConfig, SubscriptionsConfig};
use svc_tests::{App, Events, Socket, eventually};

use super::super::service::{Watched, nowhere, options};
use super::{ADA, BOB, Service, bearer, ends_in, initialised, of, serve, user_of};
use crate::auth::service::provider;
use crate::auth::token;

#[tokio::test]
async fn the_first_message_identifies_the_user() {
    let Service { app, .. } = serve(AuthConfig::default()).await;
    let held = bearer(&of(ADA));
    for payload in [
        json!({ "authorization": held }),
        json!({ "Authorization": held, "other": { "authorization": 1 } }),
        json!({ "headers": { "Authorization": held } }),
        json!({ "authorization": null, "headers": { "authorization": held } }),
    ] {
        let mut socket = Socket::ready_with(&app, payload).await;
        assert_eq!(user_of(&mut socket).await, ADA);
        socket.subscribe("1", "subscription { mine }").await;
        assert_eq!(socket.next().await["payload"]["data"]["mine"], ADA);
    }
    let mut socket = Socket::ready(&app).await;
    assert_eq!(user_of(&mut socket).await, Value::Null);
}

#[tokio::test]
async fn without_a_token_in_it_the_upgrade_identifies_the_user() {
    let Service { app, .. } = serve(AuthConfig::default()).await;
    let held = bearer(&of(ADA));
    let mut socket = Socket::open_with(&app, &[("authorization", &held)]).await;
    socket.send(&json!({ "type": "connection_init" })).await;
    socket.next().await;
    assert_eq!(user_of(&mut socket).await, ADA);
    // The message comes first, and the token stays nowhere.
    let mut socket = Socket::open_with(&app, &[("authorization", &held)]).await;
    let payload = json!({ "authorization": bearer(&of(BOB)) });
    socket
        .send(&json!({ "type": "connection_init", "payload": payload }))
        .await;
    socket.next().await;
    assert_eq!(user_of(&mut socket).await, BOB);
    socket
        .subscribe("1", "{ seen(header: \"authorization\") }")
        .await;
    assert_eq!(
        socket.next().await["payload"]["data"]["seen"],
        "WebSocket none"
    );
}

#[tokio::test]
async fn an_invalid_token_closes_4403() {
    let Service { app, .. } = serve(AuthConfig::default()).await;
    let expired = bearer(&token(json!({ "exp": ends_in(-60.0) })));
    let (malformed, invalid) = ("is not one `Bearer <token>`", "the token is not valid");
    for (payload, reason) in [
        (json!({ "authorization": expired }), "the token has expired"),
        (json!({ "authorization": "Bearer nonsense" }), invalid),
        (json!({ "authorization": "Bearer a b" }), invalid),
        (json!({ "authorization": of(ADA) }), malformed),
        (json!({ "authorization": "Basic YTpi" }), malformed),
        (json!({ "authorization": 1 }), malformed),
        (json!({ "authorization": "Bearer x\n" }), malformed),
        (
            json!({ "authorization": bearer(&of(ADA)), "Authorization": bearer(&of(ADA)) }),
            malformed,
        ),
        (
            json!({ "authorization": bearer(&of(ADA)), "headers": { "authorization": bearer(&of(BOB)) } }),
            malformed,
        ),
    ] {
        let (code, told) = initialised(&app, payload.clone()).await.unwrap_err();
        assert!(
            code == 4403 && told.contains(reason),
            "{payload}: {code} {told}"
        );
    }
}

#[tokio::test]
async fn a_service_that_requires_users_refuses_anonymous_clients() {
    let Service { app, .. } = serve(AuthConfig {
        required: true,
        ..AuthConfig::default()
    })
    .await;
    let (code, reason) = initialised(&app, json!({})).await.unwrap_err();
    assert!(
        code == 4403 && reason.starts_with("authentication required"),
        "{code} {reason}"
    );
    let mut socket = initialised(&app, json!({ "authorization": bearer(&of(ADA)) }))
        .await
        .unwrap();
    assert_eq!(user_of(&mut socket).await, ADA);
    let refused = Events::post(&app, "text/event-stream", "subscription { forever }").await;
    assert_eq!(refused.status, 401);
}

#[tokio::test]
async fn connections_of_a_user_are_bounded() {
    let watched = Watched::new();
    let subscriptions = SubscriptionsConfig {
        max_connections_per_user: 2,
        ..SubscriptionsConfig::default()
    };
    let options = options(&watched).config(SvcConfig {
        subscriptions,
        database: nowhere(),
        ..SvcConfig::default()
    });
    let app = App::serve(options.auth_provider(provider())).await;
    let held = bearer(&of(ADA));
    let ask = || {
        let request = app
            .request("GET", "/graphql?query=subscription{forever}")
            .header("accept", "text/event-stream");
        Events::of(request.header("authorization", &held))
    };
    let first = initialised(&app, json!({ "authorization": held }))
        .await
        .unwrap();
    let mut second = ask().await;
    second.until("event: next").await;
    let expected = (
        4403,
        "this user has as many open subscriptions as one may have".to_owned(),
    );
    assert_eq!(
        initialised(&app, json!({ "authorization": held }))
            .await
            .unwrap_err(),
        expected
    );
    assert_eq!(ask().await.status, 429);
    // Others are not theirs.
    initialised(&app, json!({ "authorization": bearer(&of(BOB)) }))
        .await
        .unwrap();
    initialised(&app, json!({})).await.unwrap();
    drop((first, second));
    watched.until_streams(0).await;
    eventually(async || match ask().await.status {
        200 => Ok(()),
        status => Err(status.to_string()),
    })
    .await;
}

/// Sessions and layers of the application identify the user as they do over HTTP.
#[tokio::test]
async fn a_layer_identifies_the_user() {
    let watched = Watched::new();
    let options = options(&watched).config(SvcConfig {
        auth: AuthConfig {
            required: true,
            ..AuthConfig::default()
        },
        database: nowhere(),
        ..SvcConfig::default()
    });
    let layer = svc::axum::Extension(svc::UserContext::new(ADA));
    let app = App::serve_router(create_svc_app(options).await.unwrap().layer(layer)).await;
    let mut socket = Socket::ready(&app).await;
    assert_eq!(user_of(&mut socket).await, ADA);
}

#[tokio::test]
async fn the_upgrade_requires_the_development_password() {
    let auth = AuthConfig {
        dev_password: Some("dev-pass-phrase".to_owned()),
        ..AuthConfig::default()
    };
    let Service { app, .. } = serve(auth).await;
    let ours = ("sec-websocket-protocol", "graphql-transport-ws");
    assert_eq!(Socket::upgrade(&app, &[ours]).await.map(drop), Err(401));
    use base64::Engine as _;
    let basic = base64::engine::general_purpose::STANDARD.encode("admin:dev-pass-phrase");
    let mut socket = Socket::upgrade(&app, &[ours, ("authorization", &format!("Basic {basic}"))])
        .await
        .unwrap();
    // It opens the door, and the token says who comes in.
    socket
        .send(
            &json!({ "type": "connection_init", "payload": { "authorization": bearer(&of(ADA)) } }),
        )
        .await;
    assert_eq!(socket.next().await["type"], "connection_ack");
    assert_eq!(user_of(&mut socket).await, ADA);
}
