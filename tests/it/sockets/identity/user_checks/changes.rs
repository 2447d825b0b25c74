//! Users whose data changes.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

use svc_tests::eventually;

use super::super::of;
use super::*;
use crate::auth::service::provider;

/// The streams of the user as it was end, and later operations run for the user as it is.
#[tokio::test]
async fn a_user_who_loses_a_role_subscribes_again() {
    let roles = Arc::new(Mutex::new(vec!["editor".to_owned()]));
    let (shared, watched) = (roles.clone(), Watched::new());
    let load = move |user: svc::AuthenticatedUser| {
        let roles = shared.lock().unwrap().clone();
        async move { Ok::<_, svc::Error>(Some(user.into_user().roles(roles))) }
    };
    let options = checking(&watched, brief()).auth_provider(provider());
    let app = App::serve(options.load_user(Duration::ZERO, load)).await;
    let mut socket = socket_of(&app, &of(ADA)).await;
    assert_eq!(roles_of(&mut socket).await, json!(["editor"]));
    socket.subscribe("events", "subscription { gated }").await;
    let events = stream_of(&app, &of(ADA), EVENTS).await;
    let parts = stream_of(&app, &of(ADA), PARTS).await;
    watched.until_streams(3).await;

    roles.lock().unwrap().clear();
    is_outdated(&socket.next().await, "events");
    let text = whole(events).await;
    assert!(
        text.contains("USER_CHANGED") && text.ends_with("event: complete\ndata:\n\n"),
        "{text}"
    );
    let text = whole(parts).await;
    assert!(
        text.contains("USER_CHANGED") && text.ends_with("--graphql--\r\n"),
        "{text}"
    );
    watched.until_streams(0).await;

    assert_eq!(roles_of(&mut socket).await, json!([]));
    socket.subscribe("events", "subscription { gated }").await;
    watched.until_streams(1).await;
    watched.gate.add_permits(1);
    assert_eq!(socket.next().await["payload"]["data"]["gated"], ADA);
}

/// A statement without `ORDER BY` returns its rows in any order.
#[tokio::test]
async fn roles_in_another_order_are_no_change() {
    let (loads, watched) = (Arc::<AtomicUsize>::default(), Watched::new());
    let counted = loads.clone();
    let load = move |user: svc::AuthenticatedUser| {
        let mut names = ["author", "editor"];
        if counted.fetch_add(1, Ordering::SeqCst) % 2 == 1 {
            names.reverse();
        }
        async move { Ok::<_, svc::Error>(Some(user.into_user().roles(names))) }
    };
    let options = checking(&watched, brief()).auth_provider(provider());
    let app = App::serve(options.load_user(Duration::ZERO, load)).await;
    let mut socket = socket_of(&app, &of(ADA)).await;
    socket.subscribe("1", "subscription { gated }").await;
    watched.until_streams(1).await;
    eventually(async || match loads.load(Ordering::SeqCst) {
        loads if loads >= 6 => Ok(()),
        loads => Err(format!("{loads} loads")),
    })
    .await;
    watched.gate.add_permits(1);
    let event = socket.next().await;
    assert_eq!(event["payload"]["data"]["gated"], ADA, "{event}");
}

#[tokio::test]
async fn a_user_that_stays_the_same_keeps_its_operations() {
    let users = Users::default();
    let (app, watched) = serve(&users, brief()).await;
    let mut socket = socket_of(&app, ADA).await;
    socket.subscribe("1", "subscription { gated }").await;
    let mut events = stream_of(&app, ADA, EVENTS).await;
    watched.until_streams(2).await;
    users.until_asked(ADA, 8).await;
    watched.gate.add_permits(2);
    let event = socket.next().await;
    assert_eq!(event["payload"]["data"]["gated"], ADA, "{event}");
    events.until("event: next").await;
}

/// Its client needs the result: a mutation may even be the cause of the change.
#[tokio::test]
async fn a_mutation_of_a_user_that_changes_meanwhile_returns_its_result() {
    let users = Users::default();
    let (app, watched) = serve(&users, brief()).await;
    let mut socket = socket_of(&app, ADA).await;
    socket.subscribe("mutation", "mutation { rename }").await;
    socket.subscribe("late", "subscription { stalled }").await;
    socket.subscribe("stream", "subscription { gated }").await;
    watched.until_streams(3).await;

    users.answer(ADA, Answer::User(UserContext::new(ADA).roles(["author"])));
    is_outdated(&socket.next().await, "stream");
    // Neither a check that finds the same user nor one that finds the earlier user changes that.
    users.until_asked(ADA, users.asked(ADA) + 2).await;
    users.answer(ADA, editor());
    users.until_asked(ADA, users.asked(ADA) + 2).await;
    watched.gate.add_permits(2);
    let mut messages = [
        socket.next().await,
        socket.next().await,
        socket.next().await,
    ];
    messages.sort_by_key(|message| (message["id"].to_string(), message["type"] == "complete"));
    let [late, result, complete] = messages;
    is_outdated(&late, "late");
    assert_eq!(result["type"], "next", "{result}");
    assert_eq!(result["payload"]["data"]["rename"], true, "{result}");
    assert_eq!(complete, json!({ "id": "mutation", "type": "complete" }));
    assert_eq!(roles_of(&mut socket).await, json!(["editor"]));
}
