//! Operations that wait for a check.

use super::*;

#[tokio::test]
async fn an_operation_waits_for_a_check_that_is_due() {
    let users = Users::default();
    let (app, _watched) = serve(&users, brief()).await;
    let mut socket = socket_of(&app, ADA).await;
    let gate = users.hold();
    users.until_waiting(1).await;
    // The last check is older than the interval then.
    tokio::time::sleep(BRIEF).await;
    socket.subscribe("1", "{ roles }").await;
    socket.is_silent(BRIEF).await;
    users.answer(ADA, Answer::User(UserContext::new(ADA).roles(["author"])));
    gate.add_permits(1);
    let answer = socket.next().await;
    assert_eq!(answer["payload"]["data"]["roles"], json!(["author"]));
}

#[tokio::test]
async fn an_operation_that_waits_for_a_check_does_not_begin_for_a_refused_user() {
    let users = Users::default();
    let (app, _watched) = serve(&users, brief()).await;
    let mut socket = socket_of(&app, ADA).await;
    let gate = users.hold();
    users.until_waiting(1).await;
    // The last check is older than the interval then.
    tokio::time::sleep(BRIEF).await;
    socket.subscribe("1", "{ who }").await;
    users.answer(ADA, Answer::Refused);
    gate.add_permits(1);
    assert_eq!(
        socket.receive().await,
        Err((4403, "the token is not valid".to_owned()))
    );
}

/// Nothing is read meanwhile, so the pongs of the client count for nothing.
#[tokio::test]
async fn a_check_that_takes_longer_than_pings_leaves_the_socket_open() {
    let users = Users::default();
    let subscriptions = SubscriptionsConfig {
        // Longer than a machine stands still until the operation waits.
        ping_interval: Duration::from_millis(1_500),
        ..brief()
    };
    let (app, _watched) = serve(&users, subscriptions).await;
    let gate = users.hold();
    gate.add_permits(1);
    let mut socket = socket_of(&app, ADA).await;
    users.until_waiting(1).await;
    // The authentication is older than the interval then.
    tokio::time::sleep(BRIEF).await;
    socket.subscribe("1", "{ who }").await;
    for _ in 0..2 {
        assert_eq!(socket.next().await, json!({ "type": "ping" }));
        socket.send(&json!({ "type": "pong" })).await;
    }
    gate.add_permits(1);
    let answer = socket.next().await;
    assert_eq!(answer["payload"]["data"]["who"], ADA, "{answer}");
}
