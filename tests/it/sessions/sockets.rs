//! Sessions that end while sockets and streams of their browsers are open.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use svc::axum::extract::Request;
use svc::axum::middleware::{Next, from_fn};
use svc::axum::response::Response;
use svc::futures_util::stream;
use svc::prelude::*;
use svc::sessions::{MemorySessionStore, Session, SessionError, SessionLayer, SessionStore};
use svc::{DatabaseConfig, SubscriptionsConfig};
use svc_tests::{App, Events, Socket, eventually};

use super::browser::{Browser, config, options};

/// The state of a store for checks of open connections.
#[derive(Clone, Copy)]
enum State {
    Working,
    /// Each session has ended.
    Empty,
    Away,
}

/// Sessions in memory, and their checks.
#[derive(Clone)]
struct Store {
    sessions: Arc<MemorySessionStore>,
    state: Arc<Mutex<State>>,
    checks: Arc<AtomicUsize>,
}

impl Store {
    fn new() -> Self {
        Self {
            sessions: Arc::default(),
            state: Arc::new(Mutex::new(State::Working)),
            checks: Arc::default(),
        }
    }

    fn set(&self, state: State) {
        *self.state.lock().unwrap() = state;
    }

    /// Waits for three further checks: a connection whose session has ended has no second one.
    async fn until_checked(&self) {
        let before = self.checks.load(Ordering::SeqCst);
        eventually(async || match self.checks.load(Ordering::SeqCst) - before {
            checks if checks >= 3 => Ok(()),
            checks => Err(format!("{checks} checks")),
        })
        .await;
    }
}

impl SessionStore for Store {
    async fn load(&self, key: &str) -> Result<Option<Vec<u8>>, SessionError> {
        self.sessions.load(key).await
    }

    async fn exists(&self, key: &str) -> Result<bool, SessionError> {
        self.checks.fetch_add(1, Ordering::SeqCst);
        let state = *self.state.lock().unwrap();
        match state {
            State::Working => self.sessions.exists(key).await,
            State::Empty => Ok(false),
            State::Away => Err(SessionError::Unavailable("it is away".to_owned())),
        }
    }

    async fn save(&self, key: &str, content: Vec<u8>, ttl: Duration) -> Result<(), SessionError> {
        self.sessions.save(key, content, ttl).await
    }

    async fn replace(
        &self,
        key: &str,
        content: Vec<u8>,
        ttl: Duration,
    ) -> Result<bool, SessionError> {
        self.sessions.replace(key, content, ttl).await
    }

    async fn delete(&self, key: &str) -> Result<bool, SessionError> {
        self.sessions.delete(key).await
    }
}

/// A stream that has no event.
#[svc::subscription]
fn endless() -> impl Stream<Item = i32> {
    stream::pending()
}

/// Sets the user that the session names. A request with `x-log-in` begins a session, or renews it.
async fn identify(mut request: Request, next: Next) -> Response {
    let session = request.extensions().get::<Session>().unwrap().clone();
    if let Some(name) = request.headers().get("x-log-in") {
        session.renew().unwrap();
        session.insert("value", &name.to_str().unwrap()).unwrap();
    }
    if let Some(user) = session.get::<String>("value").unwrap() {
        request.extensions_mut().insert(UserContext::new(user));
    }
    next.run(request).await
}

async fn serve(store: &Store) -> App {
    serve_with(store, SubscriptionsConfig::default().user_outage).await
}

async fn serve_with(store: &Store, user_outage: Duration) -> App {
    let options = options()
        .subscriptions(subscriptions![endless])
        .config(SvcConfig {
            subscriptions: SubscriptionsConfig {
                user_interval: Duration::from_millis(100),
                user_outage,
                ..SubscriptionsConfig::default()
            },
            database: DatabaseConfig {
                url: Some("postgres://nobody@127.0.0.1:1/nothing".to_owned()),
                ..DatabaseConfig::default()
            },
            ..SvcConfig::default()
        });
    let sessions = SessionLayer::with_store(config(), store.clone()).unwrap();
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

/// A stream whose request has a cookie, or logs a user in.
async fn stream_with(app: &App, headers: &[(&str, &str)]) -> Events {
    let request = app
        .request("GET", "/graphql?query=subscription{endless}")
        .header("accept", "text/event-stream");
    let request = headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    });
    let events = Events::of(request).await;
    assert_eq!(events.status, 200);
    events
}

async fn ends_with_session(events: Events) {
    let text = events.whole().await;
    assert!(
        text.contains("SESSION_ENDED") && text.ends_with("event: complete\ndata:\n\n"),
        "{text}"
    );
}

#[tokio::test]
async fn a_log_out_ends_the_sockets_and_streams_of_the_session() {
    let app = serve(&Store::new()).await;
    let (mut ada, mut bob) = (Browser::default(), Browser::default());
    ada.set(&app, "ada").await;
    bob.set(&app, "bob").await;
    let (mut of_ada, mut of_bob) = (socket_of(&app, &ada).await, socket_of(&app, &bob).await);
    let events = stream_with(&app, &[("cookie", ada.cookie.as_deref().unwrap())]).await;
    ada.send(&app, "mutation { clear }").await.data();
    assert_eq!(
        of_ada.closed().await,
        (4403, "the session has ended; connect again".to_owned())
    );
    ends_with_session(events).await;
    of_bob.subscribe("1", "{ value }").await;
    assert_eq!(of_bob.next().await["payload"]["data"]["value"], "bob");
}

/// The stream is checked under the identifier that its own request gave to the session.
#[tokio::test]
async fn a_session_that_begins_with_its_stream_is_checked() {
    let store = Store::new();
    let app = serve(&store).await;
    let mut browser = Browser::default();
    browser.set(&app, "ada").await;
    let cookie = browser.cookie.as_deref().unwrap();
    for headers in [
        vec![("x-log-in", "ada")],
        vec![("x-log-in", "ada"), ("cookie", cookie)],
    ] {
        store.set(State::Working);
        let events = stream_with(&app, &headers).await;
        store.until_checked().await;
        store.set(State::Empty);
        ends_with_session(events).await;
    }
}

#[tokio::test]
async fn an_unreachable_store_keeps_connections() {
    let store = Store::new();
    let app = serve(&store).await;
    let mut browser = Browser::default();
    browser.set(&app, "ada").await;
    let mut socket = socket_of(&app, &browser).await;
    store.set(State::Away);
    store.until_checked().await;
    store.set(State::Working);
    store.until_checked().await;
    socket.subscribe("1", "{ value }").await;
    assert_eq!(socket.next().await["payload"]["data"]["value"], "ada");
}

#[tokio::test]
async fn an_unreachable_store_keeps_connections_for_a_bounded_time() {
    let store = Store::new();
    let app = serve_with(&store, Duration::from_secs(1)).await;
    let mut browser = Browser::default();
    browser.set(&app, "ada").await;
    let mut socket = socket_of(&app, &browser).await;
    let events = stream_with(&app, &[("cookie", browser.cookie.as_deref().unwrap())]).await;
    store.set(State::Away);
    assert_eq!(
        socket.closed().await,
        (1013, "who asks cannot be verified at the moment".to_owned())
    );
    let text = events.whole().await;
    assert!(text.contains("SERVICE_UNAVAILABLE"), "{text}");
}
