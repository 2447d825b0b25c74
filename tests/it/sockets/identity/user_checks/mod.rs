//! Users that change, or end, while their sockets and streams are open.

mod changes;
mod ends;
mod held;
mod layers;
mod outages;
mod pool;
mod provider;
mod renewals;

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use svc::prelude::*;
use svc::{AuthConfig, SubscriptionsConfig};
use svc_tests::{App, Events, Socket};

use super::super::service::{Watched, nowhere, options};
use super::{ADA, SOON, bearer};
use provider::{Answer, Users};

/// The interval between two checks, so short that a test can wait for them.
const BRIEF: Duration = Duration::from_millis(200);

const EVENTS: &str = "text/event-stream";
const PARTS: &str = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0";

#[svc::query]
fn roles(ctx: &Context<'_>) -> Vec<String> {
    ctx.user()
        .map(|user| user.roles.clone())
        .unwrap_or_default()
}

/// A mutation that ends with a permit of the gate.
#[svc::mutation]
async fn rename(ctx: &Context<'_>) -> Result<bool> {
    let watched = ctx.data::<Watched>()?.clone();
    watched.streams.fetch_add(1, Ordering::SeqCst);
    watched.gate.acquire().await.expect("an open gate").forget();
    watched.streams.fetch_sub(1, Ordering::SeqCst);
    Ok(true)
}

/// Settings with a short interval between checks.
fn brief() -> SubscriptionsConfig {
    SubscriptionsConfig {
        user_interval: BRIEF,
        ..SubscriptionsConfig::default()
    }
}

/// Options with these settings of sockets.
fn checking(watched: &Watched, subscriptions: SubscriptionsConfig) -> AppOptions {
    let auth = AuthConfig {
        timeout: Duration::from_secs(60),
        ..AuthConfig::default()
    };
    options(watched)
        .queries(queries![roles])
        .mutations(mutations![rename])
        .config(SvcConfig {
            auth,
            subscriptions,
            database: nowhere(),
            ..SvcConfig::default()
        })
}

fn editor() -> Answer {
    Answer::User(UserContext::new(ADA).roles(["editor"]))
}

/// A service of the provider, whose user Ada may change.
async fn serve(users: &Users, subscriptions: SubscriptionsConfig) -> (App, Watched) {
    users.answer(ADA, editor());
    let watched = Watched::new();
    let options = checking(&watched, subscriptions).auth_provider(users.clone());
    (App::serve(options).await, watched)
}

async fn socket_of(app: &App, token: &str) -> Socket {
    Socket::ready_with(app, json!({ "authorization": bearer(token) })).await
}

async fn stream_of(app: &App, token: &str, media: &str) -> Events {
    let request = app
        .request("GET", "/graphql?query=subscription{gated}")
        .header("accept", media);
    Events::of(request.header("authorization", bearer(token))).await
}

async fn roles_of(socket: &mut Socket) -> Value {
    socket.subscribe("roles", "{ roles }").await;
    let answer = socket.next().await;
    assert_eq!(answer["id"], "roles", "{answer}");
    assert_eq!(socket.next().await["type"], "complete");
    answer["payload"]["data"]["roles"].clone()
}

/// The message ends the operation because its user has changed.
fn is_outdated(message: &Value, id: &str) {
    assert_eq!(
        (&message["type"], &message["id"]),
        (&json!("error"), &json!(id)),
        "{message}"
    );
    let extensions = &message["payload"][0]["extensions"];
    assert_eq!(
        (&extensions["code"], &extensions["reason"]),
        (&json!("UNAUTHENTICATED"), &json!("USER_CHANGED")),
        "{message}"
    );
}

async fn whole(events: Events) -> String {
    tokio::time::timeout(SOON, events.whole())
        .await
        .expect("the stream is still open")
}
