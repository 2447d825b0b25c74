//! `/ready` while events are many, or cannot be published.

use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};
use svc::Environment;
use svc::events::{EventSource, SourceEvent};
use svc::prelude::*;
use svc_tests::{App, Log, TestDatabase, eventually};

#[svc_type(sql_source = "v_item")]
struct Item {
    id: i32,
}

#[svc::query]
async fn items() -> Vec<Item>;
#[svc::subscription(channel = "item_changed")]
async fn item_changed(id: Option<i32>) -> Item;

/// A source that brings events of others for ever, or nothing at all, and never what the service
/// publishes itself.
struct Source {
    is_busy: bool,
}

impl EventSource for Source {
    fn listen<'a>(
        &'a self,
        _: &'a [String],
    ) -> BoxFuture<'a, Result<BoxStream<'static, SourceEvent>>> {
        let event = || SourceEvent::new("item_changed", r#"{"id": 7}"#);
        let events = stream::unfold((), move |()| async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            Some((event(), ()))
        });
        let events = if self.is_busy {
            events.boxed()
        } else {
            stream::pending().boxed()
        };
        async move { Ok(events) }.boxed()
    }

    fn publish<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<()>> {
        async { Ok(()) }.boxed()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backlog_of_events_keeps_the_service_ready() {
    let database = TestDatabase::new("CREATE VIEW v_item AS SELECT 7 AS id").await;
    for (is_busy, status) in [(true, 200), (false, 503)] {
        let options = AppOptions::new()
            .database_url(database.url())
            .event_source(Source { is_busy });
        let app = App::serve(
            options
                .queries(queries![items])
                .subscriptions(subscriptions![item_changed]),
        )
        .await;
        app.query("{ items { id } }").await.data();
        eventually(async || {
            let ready = app.get("/ready").await;
            let is_heard = ready.json()["checks"]["events"] == "ok";
            if ready.status == status && is_heard == is_busy {
                Ok(())
            } else {
                Err(ready.text)
            }
        })
        .await;
    }
}

/// A source that publishes nothing, and says where it has tried to.
struct Unreachable;

impl EventSource for Unreachable {
    fn listen<'a>(
        &'a self,
        _: &'a [String],
    ) -> BoxFuture<'a, Result<BoxStream<'static, SourceEvent>>> {
        async { Ok(stream::pending::<SourceEvent>().boxed()) }.boxed()
    }

    fn publish<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<()>> {
        async { Err(Error::internal("redis.internal:6379 refuses")) }.boxed()
    }
}

#[tokio::test]
async fn the_error_of_a_source_is_shown_in_development_only_and_always_logged() {
    let database = TestDatabase::new("CREATE VIEW v_item AS SELECT 7 AS id").await;
    for (environment, shown) in [
        (Environment::Development, "redis.internal:6379 refuses"),
        (
            Environment::Production,
            "a notification of the service could not be sent",
        ),
    ] {
        let log = Log::start();
        let config = SvcConfig {
            environment,
            ..SvcConfig::default()
        };
        let options = AppOptions::new()
            .config(config)
            .database_url(database.url())
            .event_source(Unreachable);
        let app = App::serve(
            options
                .queries(queries![items])
                .subscriptions(subscriptions![item_changed]),
        )
        .await;
        eventually(async || {
            let ready = app.get("/ready").await;
            if ready.json()["checks"]["events"] == format!("failed: {shown}") {
                Ok(())
            } else {
                Err(ready.text)
            }
        })
        .await;
        log.has("redis.internal:6379 refuses").await;
    }
}
