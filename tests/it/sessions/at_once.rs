//! Sessions that several requests use at once, on several instances.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use svc::prelude::*;
use svc::sessions::{MemorySessionStore, RedisSessionStore, SessionLayer};
use svc::{RedisClient, create_svc_app};
use svc_tests::{App, Redis};
use tokio::sync::Semaphore;

use super::browser::{Browser, config, options, serve};

/// The place where late requests wait.
#[derive(Clone)]
struct Doors {
    came: Arc<Semaphore>,
    may_go: Arc<Semaphore>,
}

impl Doors {
    fn new() -> Self {
        Self {
            came: Arc::new(Semaphore::new(0)),
            may_go: Arc::new(Semaphore::new(0)),
        }
    }

    async fn wait(&self) {
        self.came.add_permits(1);
        self.may_go.acquire().await.unwrap().forget();
    }
}

#[svc::mutation]
async fn set_late(ctx: &Context<'_>, value: String) -> Result<bool> {
    ctx.data::<Doors>()?.wait().await;
    ctx.session()?.insert("value", &value)?;
    Ok(true)
}

#[svc::mutation]
async fn remove_late(ctx: &Context<'_>) -> Result<bool> {
    ctx.data::<Doors>()?.wait().await;
    Ok(ctx.session()?.remove("value")?)
}

#[svc::mutation]
async fn renew_late(ctx: &Context<'_>) -> Result<bool> {
    ctx.data::<Doors>()?.wait().await;
    ctx.session()?.renew()?;
    Ok(true)
}

async fn late(layer: SessionLayer, doors: &Doors) -> App {
    let options = options()
        .mutations(mutations![set_late, remove_late, renew_late])
        .data(doors.clone());
    App::serve_router(create_svc_app(options).await.unwrap().layer(layer)).await
}

/// A request that began before and ends after another.
async fn overtaken(
    slow: &App,
    doors: &Doors,
    browser: &Browser,
    request: &str,
    between: impl AsyncFnOnce(),
) -> Browser {
    let mut waiting = browser.clone();
    waiting.header = None;
    let going = async {
        waiting.send(slow, request).await.data();
        waiting
    };
    let overtaking = async {
        doors.came.acquire().await.unwrap().forget();
        between().await;
        doors.may_go.add_permits(1);
    };
    tokio::join!(going, overtaking).0
}

/// A session that a log-out has ended stays ended, whatever was under way: for its browser and for a
/// copy of its cookie.
async fn check(slow: &App, fast: &App, doors: &Doors) {
    for request in [
        "mutation { set_late(value: \"late\") }",
        "mutation { renew_late }",
    ] {
        let mut browser = Browser::default();
        browser.set(fast, "mine").await;
        let mut copy = browser.clone();
        let mut after = overtaken(slow, doors, &browser, request, async || {
            browser
                .clone()
                .send(fast, "mutation { clear }")
                .await
                .data();
        })
        .await;
        assert_eq!(after.header, None, "{request}");
        for app in [slow, fast] {
            assert_eq!(
                (copy.value(app).await, after.value(app).await),
                (Value::Null, Value::Null),
                "{request}"
            );
        }
    }
    // A new identifier at a log-in is the only one, too.
    let mut browser = Browser::default();
    browser.set(fast, "mine").await;
    let mut own = browser.clone();
    for request in [
        "mutation { set_late(value: \"late\") }",
        "mutation { remove_late }",
    ] {
        let mut planted = own.clone();
        let after = overtaken(slow, doors, &planted, request, async || {
            own.send(fast, "mutation { renew }").await.data();
        })
        .await;
        assert_eq!(after.header, None, "{request}");
        assert_eq!(
            (planted.value(slow).await, own.value(slow).await),
            (Value::Null, Value::from("mine")),
            "{request}"
        );
    }
    // The control: what nobody has ended is changed.
    own = overtaken(
        slow,
        doors,
        &own,
        "mutation { set_late(value: \"late\") }",
        async || {},
    )
    .await;
    assert_eq!(own.value(fast).await, "late");
}

#[tokio::test]
async fn an_ended_session_in_redis_does_not_return() {
    let (redis, doors) = (Redis::new().await, Doors::new());
    let layer = || {
        // A busy machine does not make Redis an absence.
        let client = RedisClient::with_timeout(&redis.url(), Duration::from_secs(30)).unwrap();
        SessionLayer::with_store(config(), RedisSessionStore::new(&client)).unwrap()
    };
    check(&late(layer(), &doors).await, &serve(layer()).await, &doors).await;
}

#[tokio::test]
async fn an_ended_session_in_memory_does_not_return() {
    let doors = Doors::new();
    let app = late(
        SessionLayer::with_store(config(), MemorySessionStore::new()).unwrap(),
        &doors,
    )
    .await;
    check(&app, &app, &doors).await;
}
