//! Answers in parts that are asked for in odd ways.

use crate::{End, Hostile, document, head, hostile, post_with};

pub(crate) fn all() -> Vec<Hostile> {
    let ask = |name: &str, accept: &str, text: &str| {
        let lines = format!("content-type: application/json\r\naccept: {accept}\r\n");
        post_with(format!("stream: {name}"), &lines, document(text))
    };
    let goes = |wanted: Hostile| Hostile {
        end: End::Goes,
        ..wanted
    };
    let events = "text/event-stream";
    let parts = "multipart/mixed;subscriptionSpec=1.0";
    let get = "GET /graphql?query=subscription{ticks(count:2)} HTTP/1.1";
    vec![
        ask(
            "events of what is not valid",
            events,
            "subscription { nothing }",
        ),
        ask("events of what cannot be read", events, "subscription {"),
        ask(
            "events of two fields",
            events,
            "subscription { forever ticks(count: 1) }",
        ),
        ask(
            "events with an alias each",
            events,
            "subscription { a: ticks(count: 3) }",
        ),
        ask(
            "events that are skipped",
            events,
            "subscription { ticks(count: 1) @skip(if: true) }",
        ),
        ask("no events", events, "subscription { ticks(count: -1) }"),
        ask(
            "more events than numbers",
            events,
            "subscription { ticks(count: 99999999999) }",
        ),
        ask(
            "a query as events",
            events,
            "{ length(text: \"\\n\\ndata: x\\n\\nevent: complete\\n\\n\") }",
        ),
        ask(
            "parts of what is not valid",
            parts,
            "subscription { nothing }",
        ),
        ask(
            "parts with another boundary",
            "multipart/mixed;boundary=\"\\\"--\";subscriptionSpec=1.0",
            "{ start { id } }",
        ),
        ask(
            "parts of another version",
            "multipart/mixed;subscriptionSpec=99",
            "subscription { forever }",
        ),
        ask(
            "parts and events",
            &format!("{parts},{events}"),
            "subscription { ticks(count: 1) }",
        ),
        ask(
            "events at nothing",
            "text/event-stream;q=0, application/json",
            "subscription { forever }",
        ),
        ask("neither", "text/event-streams", "subscription { forever }"),
        head(
            "stream: events by GET",
            get,
            "accept: text/event-stream\r\n",
        ),
        head(
            "stream: events from an event",
            get,
            "accept: text/event-stream\r\nlast-event-id: \u{1}\r\n",
        ),
        head(
            "stream: events with a body",
            get,
            "accept: text/event-stream\r\ncontent-length: 4\r\n",
        ),
        head(
            "stream: a token for one connection",
            "PUT /graphql HTTP/1.1",
            "accept: text/event-stream\r\n",
        ),
        head(
            "stream: nothing to ask",
            "GET /graphql HTTP/1.1",
            "accept: text/event-stream\r\nx-graphql-event-stream-token: a\r\n",
        ),
        goes(ask("events for nobody", events, "subscription { forever }")),
        goes(ask("parts for nobody", parts, "subscription { forever }")),
        hostile(
            "stream: 50 for nobody on one connection",
            {
                "GET /graphql?query=subscription{forever} HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n\r\n"
                    .repeat(50)
            },
            End::Goes,
        ),
        post_with(
            "stream: a batch",
            "content-type: application/json\r\naccept: text/event-stream\r\n",
            format!("[{}]", document("subscription { forever }")),
        ),
    ]
}
