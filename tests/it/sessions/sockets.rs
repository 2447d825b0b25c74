//! Sessions that end while sockets and streams of their browsers are open.

use std::time::Duration;

use serde_json::json;
use svc::axum::extract::Request;
use svc::axum::middleware::{Next, from_fn};
use svc::axum::response::Response;
use svc::prelude::*;
use svc::sessions::{MemorySessionStore, Session, SessionLayer};
use svc::{DatabaseConfig, SubscriptionsConfig};
use svc_tests::{App, Socket};

use super::browser::{Browser, config, options};

/// Sets the user that the session names.
async fn identify(mut request: Request, next: Next) -> Response {
    let session = request.extensions().get::<Session>();
    let user = session.and_then(|session| session.get::<String>("value").unwrap());
    if let Some(user) = user {
        request.extensions_mut().insert(UserContext::new(user));
    }
    next.run(request).await
}

async fn serve() -> App {
    let options = options().config(SvcConfig {
        subscriptions: SubscriptionsConfig {
            user_interval: Duration::from_millis(100),
            ..SubscriptionsConfig::default()
        },
        database: DatabaseConfig {
            url: Some("postgres://nobody@127.0.0.1:1/nothing".to_owned()),
            ..DatabaseConfig::default()
        },
        ..SvcConfig::default()
    });
    let sessions = SessionLayer::with_store(config(), MemorySessionStore::new()).unwrap();
    let router = create_svc_app(options).await.unwrap();
    App::serve_router(router.layer(from_fn(identify)).layer(sessions)).await
}

async fn socket_of(app: &App, browser: &Browser) -> Socket {
    let cookie = browser.cookie.as_deref().unwrap();
    let mut socket = Socket::open_with(app, &[("cookie", cookie)]).await;
    socket.send(&json!({ "type": "connection_init" })).await;
    assert_eq!(socket.next().await["type"], "connection_ack");
    socket
}

#[tokio::test]
async fn a_log_out_closes_the_sockets_of_the_session() {
    let app = serve().await;
    let (mut ada, mut bob) = (Browser::default(), Browser::default());
    ada.set(&app, "ada").await;
    bob.set(&app, "bob").await;
    let (mut of_ada, mut of_bob) = (socket_of(&app, &ada).await, socket_of(&app, &bob).await);
    ada.send(&app, "mutation { clear }").await.data();
    assert_eq!(
        of_ada.closed().await,
        (4403, "the session has ended; connect again".to_owned())
    );
    of_bob.subscribe("1", "{ value }").await;
    assert_eq!(of_bob.next().await["payload"]["data"]["value"], "bob");
}
