//! Many events on one socket: nothing grows with their number.

use serde_json::{Value, json};
use svc::futures_util::{Stream, stream};
use svc::prelude::*;
use svc_tests::{App, Socket, TestDatabase, cases, is_alone, resident};

/// The events after which nothing may grow any more.
const WARM: u32 = 2_000;
/// The bytes that an allocator may keep beside.
const SLACK: u64 = 8 << 20;

#[svc_type(sql_source = "v_event_row")]
struct Row {
    id: i32,
}

/// The number of statements that are prepared on the connection that reads it.
#[svc_type(sql_source = "v_event_prepared")]
struct Prepared {
    number: i32,
}

#[svc_type]
struct Event {
    number: u32,
}

#[svc_type]
impl Event {
    /// Read for each event.
    async fn row(&self, ctx: &Context<'_>) -> Result<Option<Row>> {
        ctx.db()
            .find_one::<Row>()
            .filter(col("id").eq(i64::from(self.number % 10)))
            .await
    }

    /// Read for each event as well.
    async fn prepared(&self, ctx: &Context<'_>) -> Result<Option<Prepared>> {
        ctx.db().find_one::<Prepared>().await
    }
}

#[svc::query]
async fn event_rows() -> Vec<Row>;

#[svc::subscription]
fn events(count: u32) -> impl Stream<Item = Event> {
    stream::iter((1..=count).map(|number| Event { number }))
}

/// The next message that is not the service's question whether the client is there, which is
/// answered.
async fn event(socket: &mut Socket) -> Value {
    loop {
        let message = socket.next().await;
        if message["type"] != "ping" {
            return message;
        }
        socket.send(&json!({ "type": "pong" })).await;
    }
}

/// `EVENTS` says how many; 100,000 take a minute or two without optimization.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_events_leave_memory_and_prepared_statements_as_they_were() {
    if !is_alone(
        module_path!(),
        "many_events_leave_memory_and_prepared_statements_as_they_were",
    ) {
        return;
    }
    let count = u32::try_from(cases("EVENTS", 5_000, 20_000)).expect("a number of events");
    let database = TestDatabase::new(
        "CREATE VIEW v_event_row AS SELECT i AS id FROM generate_series(0, 9) AS i;
         CREATE VIEW v_event_prepared AS SELECT count(*)::int AS number FROM pg_prepared_statements;",
    )
    .await;
    let options = AppOptions::new()
        .database_url(database.url())
        .queries(queries![event_rows]);
    let app = App::serve(options.subscriptions(subscriptions![events]))
        .await
        .unwatched();
    let mut socket = Socket::ready(&app).await;
    let document = format!(
        "subscription {{ events(count: {count}) {{ number row {{ id }} prepared {{ number }} }} }}"
    );
    socket.subscribe("1", &document).await;
    let (mut memory, mut prepared) = (0, 0);
    for number in 1..=count {
        let message = event(&mut socket).await;
        let event = &message["payload"]["data"]["events"];
        assert_eq!(
            (&event["number"], &event["row"]),
            (&json!(number), &json!({ "id": number % 10 })),
            "{message}"
        );
        if number <= WARM {
            prepared = prepared.max(event["prepared"]["number"].as_u64().expect("a number"));
            memory = resident();
        } else {
            assert!(
                event["prepared"]["number"].as_u64() <= Some(prepared),
                "more than {prepared}: {event}"
            );
        }
    }
    assert_eq!(event(&mut socket).await["type"], "complete");
    let grown = resident().saturating_sub(memory);
    assert!(
        grown < SLACK,
        "{grown} bytes more after {count} events than after {WARM}"
    );
}
