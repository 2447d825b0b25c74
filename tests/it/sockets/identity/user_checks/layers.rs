//! Users that a layer has identified.

use super::super::of;
use super::*;
use crate::auth::service::provider;

async fn serve(user_max_age: Duration) -> App {
    let subscriptions = SubscriptionsConfig {
        user_max_age: Some(user_max_age),
        ..SubscriptionsConfig::default()
    };
    let options = checking(&Watched::new(), subscriptions).auth_provider(provider());
    let layer = svc::axum::Extension(UserContext::new(ADA));
    App::serve_router(create_svc_app(options).await.unwrap().layer(layer)).await
}

/// The code and the reason of the end.
fn too_old() -> (u16, String) {
    let reason = "connect again: the user was identified too long ago";
    (1001, reason.to_owned())
}

#[tokio::test]
async fn a_user_of_a_layer_is_identified_again_after_a_time() {
    let app = serve(Duration::from_secs(1)).await;
    let mut socket = Socket::ready(&app).await;
    let events = Events::post(&app, EVENTS, "subscription { gated }").await;
    let parts = Events::post(&app, PARTS, "subscription { gated }").await;
    assert_eq!(socket.closed().await, too_old());
    // Its client opens a stream again that was not completed.
    let text = whole(events).await;
    assert!(!text.contains("event: complete"), "{text}");
    let text = whole(parts).await;
    assert!(
        text.contains("the user was identified too long ago; subscribe again"),
        "{text}"
    );
}

#[tokio::test]
async fn a_renewal_does_not_extend_the_time_of_a_user_of_a_layer() {
    let app = serve(Duration::from_secs(1)).await;
    let mut socket = Socket::ready(&app).await;
    let renewal = json!({ "type": "ping", "payload": { "authorization": bearer(&of(ADA)) } });
    let renewed_until_closed = async {
        loop {
            socket.send(&renewal).await;
            match socket.receive().await {
                Ok(message) => assert_eq!(message, json!({ "type": "pong" })),
                Err(closed) => break closed,
            }
            // The next renewal comes after a while.
            if let Ok(Err(closed)) = tokio::time::timeout(BRIEF, socket.receive()).await {
                break closed;
            }
        }
    };
    let closed = tokio::time::timeout(SOON, renewed_until_closed).await;
    assert_eq!(closed.expect("the socket is still open"), too_old());
}

#[tokio::test]
async fn a_maximum_age_of_zero_ends_no_connection() {
    let app = serve(Duration::ZERO).await;
    let mut socket = Socket::ready(&app).await;
    socket.is_silent(Duration::from_secs(1)).await;
}
