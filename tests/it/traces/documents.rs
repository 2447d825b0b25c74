//! The spans of preparing documents, while the cache evicts and replaces documents.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use svc::OperationsConfig;
use svc::prelude::*;
use svc_tests::raw::PATIENCE;
use svc_tests::{App, TestDatabase, is_alone_with};
use tokio::sync::Notify;

use super::receiver::Receiver;
use super::shop::{SOON, ask, options, serve, things_database, to};
use super::steps::tree;

const DOCUMENT: &str = "{ things { id } }";
/// The header of a request whose trace is not sampled.
const UNTRACED: &str = "00-3bf7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
/// The spans of a request that prepares its document.
const PREPARED: &str = "POST /graphql\n  graphql.parse\n  graphql.validate\n  graphql.plan\n";
/// The spans of a request that runs a document.
const RUN: &str = "  query\n    Query.things\n      authorize\n      SELECT v_thing\n";

/// Where requests with `x-wait` wait: they have a plan, and no statement yet.
#[derive(Clone, Default)]
struct Turnstile {
    arrived: Arc<Notify>,
    opened: Arc<Notify>,
}

impl Turnstile {
    async fn pass(self, waits: bool) -> bool {
        if waits {
            self.arrived.notify_one();
            self.opened.notified().await;
        }
        true
    }
}

/// A service whose cache of documents is as small as it may be.
async fn app(database: &TestDatabase, receiver: &Receiver, turnstile: Turnstile) -> App {
    let config = SvcConfig {
        database: svc::DatabaseConfig {
            url: Some(database.url()),
            ..svc::DatabaseConfig::default()
        },
        operations: OperationsConfig {
            document_cache_size: 1,
            ..OperationsConfig::default()
        },
        ..SvcConfig::default()
    };
    let options = options(database)
        .config(config)
        .authorization_timeout(Duration::from_secs(60))
        .authorizer(move |request: AuthorizationRequest| {
            let waits = request.context().header("x-wait").is_some();
            turnstile.clone().pass(waits)
        });
    serve(options, to(receiver)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_of_an_evicted_document_leaves_its_successor_in_the_cache() {
    const NAME: &str = "a_request_of_an_evicted_document_leaves_its_successor_in_the_cache";
    if !is_alone_with(module_path!(), NAME, &[SOON]) {
        return;
    }
    let receiver = Receiver::start().await;
    let database = things_database().await;
    let turnstile = Turnstile::default();
    let app = app(&database, &receiver, turnstile.clone()).await;

    let waiting = ask(&app, DOCUMENT, json!({}), &[("x-wait", "1")]);
    let replacing = async {
        tokio::time::timeout(PATIENCE, turnstile.arrived.notified())
            .await
            .expect("the request does not run");

        // Several times the size of the cache.
        for number in 0..200 {
            let other = format!("{{ things {{ id }} }} # {number} {}", "x".repeat(20_000));
            ask(&app, &other, json!({}), &[("traceparent", UNTRACED)]).await;
        }

        let trace = "1bf7651916cd43dd8448eb211c80319c";
        let successor = tree(&app, &receiver, trace, DOCUMENT).await;
        assert_eq!(successor, format!("{PREPARED}{RUN}"), "it was evicted");
        turnstile.opened.notify_one();
    };
    tokio::join!(waiting, replacing);

    let trace = "2bf7651916cd43dd8448eb211c80319c";
    let found = tree(&app, &receiver, trace, DOCUMENT).await;
    assert_eq!(found, format!("POST /graphql\n{RUN}"));
}
