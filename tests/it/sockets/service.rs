//! A service with subscriptions of every kind.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use svc::SubscriptionsConfig;
use svc::futures_util::{Stream, StreamExt as _, stream};
use svc::prelude::*;
use svc_tests::{App, eventually};
use tokio::sync::Semaphore;

/// The streams that are open, and a gate for what waits.
#[derive(Clone)]
pub(super) struct Watched {
    pub(super) streams: Arc<AtomicUsize>,
    pub(super) gate: Arc<Semaphore>,
}

impl Watched {
    pub(super) fn new() -> Self {
        Self {
            streams: Arc::default(),
            gate: Arc::new(Semaphore::new(0)),
        }
    }

    /// Waits until so many streams are open.
    pub(super) async fn until_streams(&self, count: usize) {
        eventually(async || match self.streams.load(Ordering::SeqCst) {
            open if open == count => Ok(()),
            open => Err(format!("{open} streams are open")),
        })
        .await;
    }

    fn open(&self) -> Opened {
        self.streams.fetch_add(1, Ordering::SeqCst);
        Opened(self.streams.clone())
    }
}

/// A stream that is open as long as this lives.
struct Opened(Arc<AtomicUsize>);

impl Drop for Opened {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// One to a number.
#[svc::subscription]
fn ticks(ctx: &Context<'_>, count: i32) -> Result<impl Stream<Item = i32>> {
    let opened = ctx.data::<Watched>()?.open();
    Ok(stream::iter(1..=count).map(move |tick| {
        let _ = &opened;
        tick
    }))
}

/// One event, and then nothing for ever.
#[svc::subscription]
fn forever(ctx: &Context<'_>) -> Result<impl Stream<Item = i32>> {
    let opened = ctx.data::<Watched>()?.open();
    Ok(stream::iter([1]).chain(stream::pending()).map(move |tick| {
        let _ = &opened;
        tick
    }))
}

/// A number for each permit of the gate.
#[svc::subscription]
fn gated(ctx: &Context<'_>) -> Result<impl Stream<Item = Option<String>>> {
    let watched = ctx.data::<Watched>()?.clone();
    let user = ctx.user().map(|user| user.user_id.clone());
    let opened = watched.open();
    Ok(stream::unfold(
        (watched, opened),
        move |(watched, opened)| {
            let user = user.clone();
            async move {
                watched.gate.acquire().await.ok()?.forget();
                Some((user, (watched, opened)))
            }
        },
    ))
}

/// Texts of a length, as fast as they are taken.
#[svc::subscription]
fn flood(ctx: &Context<'_>, size: i32) -> Result<impl Stream<Item = String>> {
    let (opened, text) = (
        ctx.data::<Watched>()?.open(),
        "x".repeat(size.unsigned_abs() as usize),
    );
    Ok(stream::repeat_with(move || {
        let _ = &opened;
        text.clone()
    }))
}

/// An event that fails between two that do not.
#[svc::subscription]
fn faulty() -> impl Stream<Item = Result<i32>> {
    stream::iter([
        Ok(1),
        Err(Error::new(ErrorCode::NotFound, "the second is not there")),
        Ok(3),
    ])
}

/// A stream that cannot be made.
#[svc::subscription]
fn refused() -> Result<impl Stream<Item = i32>> {
    Err::<stream::Empty<i32>, _>(Error::new(ErrorCode::Forbidden, "not for you"))
}

/// A stream that panics.
#[svc::subscription]
fn broken() -> impl Stream<Item = i32> {
    stream::iter([1]).chain(stream::once(async { panic!("as it does") }))
}

/// A stream that is made once there is a permit of the gate.
#[svc::subscription]
async fn stalled(ctx: &Context<'_>) -> Result<impl Stream<Item = i32>> {
    let watched = ctx.data::<Watched>()?.clone();
    let opened = watched.open();
    watched.gate.acquire().await.expect("an open gate").forget();
    Ok(stream::iter([1]).chain(stream::pending()).map(move |tick| {
        let _ = &opened;
        tick
    }))
}

/// One event, and a panic when the stream is dropped.
#[svc::subscription]
fn sticky() -> impl Stream<Item = i32> {
    struct Sticky;
    impl Drop for Sticky {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "as it does");
        }
    }
    let sticky = Sticky;
    stream::iter([1]).chain(stream::pending()).map(move |tick| {
        let _ = &sticky;
        tick
    })
}

/// For users only.
#[svc::subscription]
#[requires_auth]
fn mine(ctx: &Context<'_>) -> Result<impl Stream<Item = String>> {
    let user = ctx.require_user()?.user_id.clone();
    Ok(stream::iter([user]))
}

#[svc::query]
fn hello(name: Option<String>) -> String {
    format!("hello, {}", name.unwrap_or_else(|| "world".to_owned()))
}

/// The way on which the request came, and a header of it.
#[svc::query]
fn seen(ctx: &Context<'_>, header: String) -> String {
    format!(
        "{:?} {}",
        ctx.transport(),
        ctx.header(&header).unwrap_or("none")
    )
}

/// An answer that waits for a permit of the gate.
#[svc::query]
async fn waiting(ctx: &Context<'_>) -> Result<bool> {
    let watched = ctx.data::<Watched>()?.clone();
    let _opened = watched.open();
    watched.gate.acquire().await.expect("an open gate").forget();
    Ok(true)
}

#[svc::query]
fn who(ctx: &Context<'_>) -> Option<String> {
    ctx.user().map(|user| user.user_id.clone())
}

#[svc::mutation]
fn bump() -> i32 {
    2
}

/// Options without a database.
pub(super) fn options(watched: &Watched) -> AppOptions {
    AppOptions::new()
        .database_url("postgres://nobody@127.0.0.1:1/nothing")
        .queries(queries![hello, seen, waiting, who])
        .mutations(mutations![bump])
        .subscriptions(subscriptions![
            ticks, forever, gated, flood, faulty, refused, broken, stalled, sticky, mine
        ])
        .data(watched.clone())
}

pub(super) async fn serve() -> (App, Watched) {
    serve_with(SubscriptionsConfig::default()).await
}

pub(super) async fn serve_with(subscriptions: SubscriptionsConfig) -> (App, Watched) {
    let watched = Watched::new();
    let config = SvcConfig {
        subscriptions,
        ..SvcConfig::default()
    };
    // The settings of `options` come last.
    let options = options(&watched);
    let options = options.config(SvcConfig {
        database: nowhere(),
        ..config
    });
    (App::serve(options).await, watched)
}

pub(super) fn nowhere() -> svc::DatabaseConfig {
    svc::DatabaseConfig {
        url: Some("postgres://nobody@127.0.0.1:1/nothing".to_owned()),
        ..Default::default()
    }
}

/// Times so short that a test can wait for them.
pub(super) fn brief() -> SubscriptionsConfig {
    SubscriptionsConfig {
        init_timeout: Duration::from_millis(100),
        ..SubscriptionsConfig::default()
    }
}
