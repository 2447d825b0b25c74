//! The user of a socket or a stream, and the time for which that holds.

mod expiry;
mod providers;
mod revocation;
mod user_checks;
mod users;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use svc::AuthConfig;
use svc::auth::{MemoryRevocationStore, RevocationConfig, RevocationStore, TokenRevocationService};
use svc::prelude::*;
use svc_tests::{App, Closed, Socket};

use super::service::{Watched, nowhere, options};
use crate::auth::service::provider;
use crate::auth::token;

const ADA: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const BOB: &str = "bbbbbbbb-0000-4000-8000-000000000002";

/// The longest time until a socket is closed whose token has ended, on a machine that runs other
/// tests beside. It is less than until the next ping of a socket that was just opened.
const SOON: Duration = Duration::from_secs(20);

struct Service {
    app: App,
    watched: Watched,
    revocation: TokenRevocationService,
}

async fn serve(auth: AuthConfig) -> Service {
    serve_with(auth, MemoryRevocationStore::new()).await
}

async fn serve_with(auth: AuthConfig, store: impl RevocationStore) -> Service {
    serve_revoking(
        auth,
        TokenRevocationService::new(store, RevocationConfig::default()),
    )
    .await
}

async fn serve_revoking(auth: AuthConfig, revocation: TokenRevocationService) -> Service {
    let watched = Watched::new();
    let options = options(&watched).config(SvcConfig {
        auth,
        database: nowhere(),
        ..SvcConfig::default()
    });
    let app = App::serve(
        options
            .auth_provider(provider())
            .token_revocation(revocation.clone()),
    )
    .await;
    Service {
        app,
        watched,
        revocation,
    }
}

fn of(user: &str) -> String {
    token(json!({ "sub": user, "jti": user, "sid": "s" }))
}

fn ends_in(seconds: f64) -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs_f64()
        + seconds
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

async fn initialised(app: &App, payload: Value) -> Result<Socket, Closed> {
    let mut socket = Socket::open(app).await;
    socket
        .send(&json!({ "type": "connection_init", "payload": payload }))
        .await;
    socket.receive().await.map(|_| socket)
}

async fn user_of(socket: &mut Socket) -> Value {
    socket.subscribe("who", "{ who }").await;
    let answer = socket.next().await;
    assert_eq!(socket.next().await["type"], "complete");
    answer["payload"]["data"]["who"].clone()
}
