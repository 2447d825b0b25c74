//! Events of checks while the source publishes slowly.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use serde_json::json;
use svc::events::{EventSource, InProcessEvents, SourceEvent};
use svc::prelude::*;
use svc::testing::TestService;
use svc_tests::{App, Reply, next_answer};
use tokio::sync::Semaphore;

use super::checks::{listen, one_connection, update_watched};
use super::{ItemPatch, database, error, errors, names, options};

/// A source that publishes what is said once it is open.
#[derive(Clone)]
struct GatedEvents {
    events: InProcessEvents,
    gate: Arc<Semaphore>,
    /// The events being published, and the most at the same time.
    publishing: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl GatedEvents {
    fn closed() -> Self {
        Self {
            events: InProcessEvents::new(),
            gate: Arc::new(Semaphore::new(0)),
            publishing: Arc::default(),
            most: Arc::default(),
        }
    }

    fn open(&self) {
        self.gate.add_permits(1);
    }
}

impl EventSource for GatedEvents {
    fn listen<'a>(
        &'a self,
        channels: &'a [String],
    ) -> BoxFuture<'a, Result<BoxStream<'static, SourceEvent>>> {
        self.events.listen(channels)
    }

    fn publish<'a>(&'a self, channel: &'a str, payload: &'a str) -> BoxFuture<'a, Result<()>> {
        let publishing = async move {
            // The service also publishes probes.
            if channel == "said" {
                let publishing = self.publishing.fetch_add(1, Ordering::SeqCst) + 1;
                self.most.fetch_max(publishing, Ordering::SeqCst);
                let _open = self.gate.acquire().await;
                self.publishing.fetch_sub(1, Ordering::SeqCst);
            }
            self.events.publish(channel, payload).await
        };
        publishing.boxed()
    }
}

const UNDONE: &str = r#"mutation @atomic {
    a: updateWatched(id: 1, input: {name: "changed"}) { name }
    b: fail
}"#;

fn assert_undone(reply: &Reply) {
    let expected = [error("NOT_DONE", "a"), error("BAD_USER_INPUT", "b")];
    assert_eq!(errors(reply), expected, "{}", reply.text);
}

#[tokio::test]
async fn the_response_to_an_undone_operation_does_not_wait_for_events_of_checks() {
    let (database, source) = (database().await, GatedEvents::closed());
    let options = options(&database)
        .event_source(source.clone())
        .mutations(mutations![update_watched]);
    let service = TestService::start(options).await.unwrap();
    let mut heard = listen(&service).await;
    let app = App::serve_router(service.router()).await;
    let reply = app.query(UNDONE).await;
    assert_undone(&reply);
    assert!(heard.next().now_or_never().is_none());

    source.open();
    let read = json!({"data": {"said": "read 1"}});
    assert_eq!(next_answer(&mut heard).await, read);
}

#[tokio::test]
async fn the_events_of_many_undone_operations_use_few_connections() {
    let (database, source) = (database().await, GatedEvents::closed());
    let options = options(&database)
        .event_source(source.clone())
        .mutations(mutations![update_watched]);
    let service = TestService::start(options).await.unwrap();
    let mut heard = listen(&service).await;
    let app = App::serve_router(service.router()).await;
    for _ in 0..10 {
        assert_undone(&app.query(UNDONE).await);
    }

    source.open();
    let read = json!({"data": {"said": "read 1"}});
    for _ in 0..10 {
        assert_eq!(next_answer(&mut heard).await, read);
    }
    assert!(source.most.load(Ordering::SeqCst) <= 2);
}

#[svc_type(sql_source = "v_item")]
struct VerboseItem {
    id: i32,
    #[svc::authorize_field(report_too_much)]
    name: Option<String>,
}

/// Reports something that PostgreSQL does not publish.
async fn report_too_much(item: &VerboseItem, request: AuthorizationRequest) -> Result<bool> {
    let long = "x".repeat(8_000);
    let (channel, payload) = match item.id {
        1 => ("said", "\0"),
        2 => ("said", &*long),
        3 => (&long[..64], "said"),
        4 => ("", "said"),
        _ => ("sa\0id", "said"),
    };
    request.context().publish(channel, payload).await?;
    Ok(true)
}

#[svc::mutation(update = "tb_item", atomic)]
async fn update_verbose(id: i32, input: ItemPatch) -> Option<VerboseItem>;

#[tokio::test]
async fn an_event_that_cannot_be_published_fails_its_check() {
    let database = database().await;
    let app = App::serve(one_connection(&database).mutations(mutations![update_verbose])).await;
    database
        .execute("INSERT INTO tb_item SELECT id, 'more' FROM generate_series(3, 5) id")
        .await;
    for id in 1..=5 {
        let write = |name: &str| {
            format!(r#"{{ updateVerbose(id: {id}, input: {{name: "{name}"}}) {{ name }} }}"#)
        };
        let alone = app.query(&format!("mutation {}", write("alone"))).await;
        let undone = app
            .query(&format!("mutation @atomic {}", write("undone")))
            .await;
        assert_eq!(undone.code(), alone.code(), "{}", undone.text);
    }
    assert_eq!(names(&database).await, ["alone"; 5]);
}

#[tokio::test]
async fn an_event_of_a_check_is_published_although_the_commit_is_rejected() {
    let database = database().await;
    database
        .execute("ALTER TABLE tb_item ADD UNIQUE (name) DEFERRABLE INITIALLY DEFERRED")
        .await;
    let options = options(&database).mutations(mutations![update_watched]);
    let service = TestService::start(options).await.unwrap();
    let mut heard = listen(&service).await;
    let app = App::serve_router(service.router()).await;
    let reply = app
        .query(
            r#"mutation @atomic {
                a: updateWatched(id: 1, input: {name: "two"}) { name }
                b: say(text: "undone")
            }"#,
        )
        .await;
    let code = reply.code();
    let expected = [error(&code, "a"), error(&code, "b")];
    assert_eq!(errors(&reply), expected, "{}", reply.text);
    let read = json!({"data": {"said": "read 1"}});
    assert_eq!(next_answer(&mut heard).await, read);
    assert_eq!(names(&database).await, ["one", "two"]);

    // The next event is not that of the other field.
    app.query(r#"mutation { say(text: "later") }"#).await.data();
    let later = json!({"data": {"said": "later"}});
    assert_eq!(next_answer(&mut heard).await, later);
}
