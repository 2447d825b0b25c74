//! Renewals by ping, of tokens whose users are checked.

use super::*;

/// Tokens of Ada, beside the first one.
const SAME: &str = "dddddddd-0000-4000-8000-000000000001";
const OTHER: &str = "dddddddd-0000-4000-8000-000000000002";

fn renewal(token: &str) -> Value {
    json!({ "type": "ping", "payload": { "authorization": bearer(token) } })
}

#[tokio::test]
async fn a_renewed_token_is_checked_in_place_of_the_earlier_one() {
    let users = Users::default();
    let (app, watched) = serve(&users, brief()).await;
    users.answer(SAME, editor());
    users.answer(OTHER, Answer::User(UserContext::new(ADA).roles(["author"])));
    let mut socket = socket_of(&app, ADA).await;
    socket.subscribe("1", "subscription { gated }").await;
    watched.until_streams(1).await;

    // The same user continues.
    socket.send(&renewal(SAME)).await;
    assert_eq!(socket.next().await, json!({ "type": "pong" }));
    let earlier = users.asked(ADA);
    users.until_asked(SAME, 4).await;
    assert_eq!(users.asked(ADA), earlier);
    watched.gate.add_permits(1);
    assert_eq!(socket.next().await["payload"]["data"]["gated"], ADA);

    // Nothing checks the earlier user of the stream any longer, so the stream ends.
    socket.send(&renewal(OTHER)).await;
    is_outdated(&socket.next().await, "1");
    assert_eq!(socket.next().await, json!({ "type": "pong" }));
    assert_eq!(roles_of(&mut socket).await, json!(["author"]));
    users.answer(OTHER, Answer::Refused);
    assert_eq!(
        socket.closed().await,
        (4403, "the token is not valid".to_owned())
    );
}
