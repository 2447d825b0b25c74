//! `/ready` while events are many.

use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};
use svc::events::{EventSource, SourceEvent};
use svc::prelude::*;
use svc_tests::{App, TestDatabase, eventually};

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
async fn a_backlog_of_events_is_not_an_absence() {
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
