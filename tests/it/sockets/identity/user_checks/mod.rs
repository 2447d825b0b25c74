//! Users that change, or end, while their sockets and streams are open.

mod pool;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use svc::auth::{AuthError, AuthProvider, Authenticated, Claims};
use svc::prelude::*;
use svc::{AuthConfig, SubscriptionsConfig};
use svc_tests::{App, Events, Socket, eventually};
use tokio::sync::Semaphore;

use super::super::service::{Watched, nowhere, options};
use super::{ADA, BOB, SOON, bearer, ends_in, of, user_of};
use crate::auth::service::provider;

/// The interval between two checks, so short that a test can wait for them.
const BRIEF: Duration = Duration::from_millis(200);

/// What the provider says of a user.
#[derive(Clone)]
enum Answer {
    User(UserContext),
    Refused,
    Away,
}

/// A provider of opaque tokens, each of which is the name of its user.
#[derive(Clone, Default)]
struct Users(Arc<State>);

#[derive(Default)]
struct State {
    answers: Mutex<HashMap<String, Answer>>,
    /// The number of verifications of each token.
    asked: Mutex<HashMap<String, usize>>,
    /// Whether verifications wait, until then.
    gate: Mutex<Option<Arc<Semaphore>>>,
    waiting: AtomicUsize,
}

impl Users {
    fn answer(&self, user: &str, answer: Answer) {
        let mut answers = self.0.answers.lock().unwrap();
        answers.insert(user.to_owned(), answer);
    }

    fn asked(&self, user: &str) -> usize {
        let asked = self.0.asked.lock().unwrap();
        asked.get(user).copied().unwrap_or_default()
    }

    async fn until_asked(&self, user: &str, count: usize) {
        eventually(async || match self.asked(user) {
            asked if asked >= count => Ok(()),
            asked => Err(format!("{asked} verifications")),
        })
        .await;
    }

    /// Has verifications wait for permits.
    fn hold(&self) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        *self.0.gate.lock().unwrap() = Some(gate.clone());
        gate
    }
}

impl AuthProvider for Users {
    async fn validate_token(&self, token: &str) -> Result<Claims, AuthError> {
        Ok(self.authenticate(token).await?.claims().clone())
    }

    async fn get_user_from_token(&self, token: &str) -> Result<UserContext, AuthError> {
        Ok(self.authenticate(token).await?.user().clone())
    }

    async fn authenticate(&self, token: &str) -> Result<Authenticated, AuthError> {
        let asked = {
            let mut asked = self.0.asked.lock().unwrap();
            let count = asked.entry(token.to_owned()).or_default();
            *count += 1;
            *count
        };

        let gate = self.0.gate.lock().unwrap().clone();
        if let Some(gate) = gate {
            self.0.waiting.fetch_add(1, Ordering::SeqCst);
            gate.acquire().await.expect("an open gate").forget();
        }

        let answer = self.0.answers.lock().unwrap().get(token).cloned();
        match answer {
            // Each answer is issued anew.
            Some(Answer::User(user)) => {
                let claims = json!({ "iat": asked });
                let claims = Claims::new(claims.as_object().unwrap().clone());
                Ok(Authenticated::new(claims, user.metadata("iat", asked)))
            }
            Some(Answer::Refused) => Err(AuthError::invalid("it is not active")),
            Some(Answer::Away) => Err(AuthError::unavailable("the provider is away")),
            None => {
                let exp = ends_in(3_600.0);
                let claims = json!({ "sub": token, "exp": exp });
                let claims = Claims::new(claims.as_object().unwrap().clone());
                let until = UNIX_EPOCH + Duration::from_secs_f64(exp);
                Ok(Authenticated::new(claims, UserContext::new(token)).keep_until(until))
            }
        }
    }
}

#[svc::query]
fn roles(ctx: &Context<'_>) -> Vec<String> {
    ctx.user()
        .map(|user| user.roles.clone())
        .unwrap_or_default()
}

/// Options with this interval between checks.
fn checking(watched: &Watched, user_interval: Duration) -> AppOptions {
    let subscriptions = SubscriptionsConfig {
        user_interval,
        ..SubscriptionsConfig::default()
    };
    let auth = AuthConfig {
        timeout: Duration::from_secs(60),
        ..AuthConfig::default()
    };
    options(watched).queries(queries![roles]).config(SvcConfig {
        auth,
        subscriptions,
        database: nowhere(),
        ..SvcConfig::default()
    })
}

/// A service of the provider, whose user Ada may change.
async fn serve(users: &Users, user_interval: Duration) -> (App, Watched) {
    users.answer(ADA, Answer::User(UserContext::new(ADA).roles(["editor"])));
    let watched = Watched::new();
    let options = checking(&watched, user_interval).auth_provider(users.clone());
    (App::serve(options).await, watched)
}

async fn socket_of(app: &App, token: &str) -> Socket {
    Socket::ready_with(app, json!({ "authorization": bearer(token) })).await
}

async fn stream_of(app: &App, token: &str) -> Events {
    let request = app
        .request("GET", "/graphql?query=subscription{gated}")
        .header("accept", "text/event-stream");
    Events::of(request.header("authorization", bearer(token))).await
}

async fn roles_of(socket: &mut Socket) -> Value {
    socket.subscribe("roles", "{ roles }").await;
    let answer = socket.next().await;
    assert_eq!(socket.next().await["type"], "complete");
    answer["payload"]["data"]["roles"].clone()
}

async fn whole(events: Events) -> String {
    tokio::time::timeout(SOON, events.whole())
        .await
        .expect("the stream is still open")
}

#[tokio::test]
async fn a_user_that_the_provider_refuses_is_disconnected() {
    let users = Users::default();
    let (app, watched) = serve(&users, BRIEF).await;
    let mut socket = socket_of(&app, ADA).await;
    socket.subscribe("1", "subscription { gated }").await;
    let events = stream_of(&app, ADA).await;
    watched.until_streams(2).await;
    users.answer(ADA, Answer::Refused);
    assert_eq!(
        socket.closed().await,
        (4403, "the token is not valid".to_owned())
    );
    let text = whole(events).await;
    assert!(
        text.contains("TOKEN_INVALID") && text.ends_with("event: complete\ndata:\n\n"),
        "{text}"
    );
    watched.until_streams(0).await;
}

/// The operations of the user as it was end, and later ones run for the user as it is.
#[tokio::test]
async fn a_user_who_loses_a_role_subscribes_again() {
    let roles = Arc::new(Mutex::new(vec!["editor".to_owned()]));
    let (shared, watched) = (roles.clone(), Watched::new());
    let load = move |user: svc::AuthenticatedUser| {
        let roles = shared.lock().unwrap().clone();
        async move { Ok::<_, svc::Error>(Some(user.into_user().roles(roles))) }
    };
    let options = checking(&watched, BRIEF).auth_provider(provider());
    let app = App::serve(options.load_user(Duration::ZERO, load)).await;
    let mut socket = socket_of(&app, &of(ADA)).await;
    assert_eq!(roles_of(&mut socket).await, json!(["editor"]));
    socket.subscribe("events", "subscription { gated }").await;
    let events = stream_of(&app, &of(ADA)).await;
    watched.until_streams(2).await;

    roles.lock().unwrap().clear();
    let ended = socket.next().await;
    assert_eq!(
        (&ended["type"], &ended["id"]),
        (&json!("error"), &json!("events")),
        "{ended}"
    );
    let extensions = &ended["payload"][0]["extensions"];
    assert_eq!(
        (&extensions["code"], &extensions["reason"]),
        (&json!("UNAUTHENTICATED"), &json!("USER_CHANGED")),
        "{ended}"
    );
    let text = whole(events).await;
    assert!(text.contains("USER_CHANGED"), "{text}");
    watched.until_streams(0).await;

    assert_eq!(roles_of(&mut socket).await, json!([]));
    socket.subscribe("events", "subscription { gated }").await;
    watched.until_streams(1).await;
    watched.gate.add_permits(1);
    assert_eq!(socket.next().await["payload"]["data"]["gated"], ADA);
}

#[tokio::test]
async fn a_user_that_stays_the_same_keeps_its_operations() {
    let users = Users::default();
    let (app, watched) = serve(&users, BRIEF).await;
    let mut socket = socket_of(&app, ADA).await;
    socket.subscribe("1", "subscription { gated }").await;
    let mut events = stream_of(&app, ADA).await;
    watched.until_streams(2).await;
    users.until_asked(ADA, 8).await;
    watched.gate.add_permits(2);
    let event = socket.next().await;
    assert_eq!(event["payload"]["data"]["gated"], ADA, "{event}");
    events.until("event: next").await;
}

/// A token that says until when its user is known ends then, and costs nothing before.
#[tokio::test]
async fn a_user_that_is_known_until_the_end_of_its_token_is_not_checked() {
    let users = Users::default();
    let (app, _watched) = serve(&users, BRIEF).await;
    let mut fixed = socket_of(&app, BOB).await;
    let _other = socket_of(&app, ADA).await;
    users.until_asked(ADA, 5).await;
    assert_eq!(users.asked(BOB), 1);
    assert_eq!(user_of(&mut fixed).await, BOB);
}

#[tokio::test]
async fn an_unreachable_provider_keeps_users_for_a_bounded_time() {
    let users = Users::default();
    let (app, watched) = serve(&users, Duration::from_secs(2)).await;
    let mut socket = socket_of(&app, ADA).await;
    let mut fixed = socket_of(&app, BOB).await;
    socket.subscribe("1", "subscription { gated }").await;
    let events = stream_of(&app, ADA).await;
    watched.until_streams(2).await;

    let asked = users.asked(ADA);
    users.answer(ADA, Answer::Away);
    users.until_asked(ADA, asked + 2).await;
    watched.gate.add_permits(1);
    assert_eq!(roles_of_amid_events(&mut socket).await, json!(["editor"]));
    assert_eq!(
        socket.closed().await,
        (1013, "who asks cannot be verified at the moment".to_owned())
    );
    let text = whole(events).await;
    assert!(text.contains("SERVICE_UNAVAILABLE"), "{text}");
    assert_eq!(user_of(&mut fixed).await, BOB);
}

/// The roles, where events of other operations may come in between.
async fn roles_of_amid_events(socket: &mut Socket) -> Value {
    socket.subscribe("roles", "{ roles }").await;
    loop {
        let message = socket.next().await;
        if message["id"] == "roles" {
            return message["payload"]["data"]["roles"].clone();
        }
    }
}

#[tokio::test]
async fn an_operation_waits_for_a_check_that_is_due() {
    let users = Users::default();
    let (app, _watched) = serve(&users, BRIEF).await;
    let mut socket = socket_of(&app, ADA).await;
    let gate = users.hold();
    eventually(async || match users.0.waiting.load(Ordering::SeqCst) {
        0 => Err("no check".to_owned()),
        _ => Ok(()),
    })
    .await;
    // The check before is older than the interval then.
    tokio::time::sleep(BRIEF).await;
    socket.subscribe("1", "{ who }").await;
    users.answer(ADA, Answer::Refused);
    gate.add_permits(1);
    assert_eq!(
        socket.receive().await,
        Err((4403, "the token is not valid".to_owned()))
    );
}

#[tokio::test]
async fn a_user_of_a_layer_is_identified_again_after_a_time() {
    let watched = Watched::new();
    let subscriptions = SubscriptionsConfig {
        user_max_age: Some(Duration::from_secs(1)),
        ..SubscriptionsConfig::default()
    };
    let options = options(&watched).config(SvcConfig {
        subscriptions,
        database: nowhere(),
        ..SvcConfig::default()
    });
    let layer = svc::axum::Extension(UserContext::new(ADA));
    let app = App::serve_router(create_svc_app(options).await.unwrap().layer(layer)).await;
    let mut socket = Socket::ready(&app).await;
    let events = Events::post(&app, "text/event-stream", "subscription { gated }").await;
    assert_eq!(
        socket.closed().await,
        (
            1001,
            "connect again: the user was identified too long ago".to_owned()
        )
    );
    // Its client opens a stream again that was not completed.
    let text = whole(events).await;
    assert!(!text.contains("event: complete"), "{text}");
}
