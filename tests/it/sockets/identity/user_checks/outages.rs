//! Providers that cannot check users.

use super::super::{BOB, user_of};
use super::*;

/// The maximum number of checks at once.
const MAX_CHECKS: usize = 32;

#[tokio::test]
async fn an_unreachable_provider_keeps_users() {
    for outage in [Answer::Away, Answer::Panic] {
        let users = Users::default();
        let (app, watched) = serve(&users, brief()).await;
        let mut socket = socket_of(&app, ADA).await;
        socket.subscribe("1", "subscription { gated }").await;
        let mut events = stream_of(&app, ADA, EVENTS).await;
        watched.until_streams(2).await;

        users.answer(ADA, outage);
        users.until_asked(ADA, users.asked(ADA) + 6).await;
        assert_eq!(roles_of(&mut socket).await, json!(["editor"]));
        users.answer(ADA, editor());
        users.until_asked(ADA, users.asked(ADA) + 4).await;
        watched.gate.add_permits(2);
        let event = socket.next().await;
        assert_eq!(event["payload"]["data"]["gated"], ADA, "{event}");
        events.until("event: next").await;
    }
}

#[tokio::test]
async fn an_unreachable_provider_keeps_users_for_a_bounded_time() {
    let users = Users::default();
    let subscriptions = SubscriptionsConfig {
        user_outage: Duration::from_secs(1),
        ..brief()
    };
    let (app, watched) = serve(&users, subscriptions).await;
    let mut socket = socket_of(&app, ADA).await;
    let mut fixed = socket_of(&app, BOB).await;
    socket.subscribe("1", "subscription { gated }").await;
    let events = stream_of(&app, ADA, EVENTS).await;
    watched.until_streams(2).await;

    let asked = users.asked(ADA);
    users.answer(ADA, Answer::Away);
    assert_eq!(
        socket.closed().await,
        (1013, "who asks cannot be verified at the moment".to_owned())
    );
    let text = whole(events).await;
    assert!(text.contains("SERVICE_UNAVAILABLE"), "{text}");
    assert!(users.asked(ADA) >= asked + 2, "one failure ends nothing");
    assert_eq!(user_of(&mut fixed).await, BOB);
}

/// The checks of many sockets leave the provider to requests, however slow it is.
#[tokio::test]
async fn a_bounded_number_of_users_is_checked_at_once() {
    let users = Users::default();
    let (app, _watched) = serve(&users, brief()).await;
    let mut sockets = Vec::new();
    for number in 0..MAX_CHECKS + 8 {
        let token = format!("cccccccc-0000-4000-8000-{number:012}");
        users.answer(&token, Answer::User(UserContext::new(token.as_str())));
        sockets.push((socket_of(&app, &token).await, token));
    }

    let gate = users.hold();
    users.until_waiting(MAX_CHECKS).await;
    let asked: Vec<_> = sockets
        .iter()
        .map(|(_, token)| users.asked(token))
        .collect();
    gate.add_permits(10_000);
    for ((socket, token), asked) in sockets.iter_mut().zip(asked) {
        users.until_asked(token, asked + 1).await;
        assert_eq!(user_of(socket).await, *token);
    }
    assert_eq!(users.most_waiting(), MAX_CHECKS);
}
