//! Events with errors: the subscription goes on.

use serde_json::{Value, json};
use svc_tests::{App, Events, Socket};

use super::{app, parts};

/// The responses to a subscription over server-sent events.
async fn events(app: &App, query: &str, on_error: &str) -> Vec<(Value, Vec<Value>)> {
    let body = json!({ "query": query, "onError": on_error });
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .header("accept", "text/event-stream");
    let text = Events::of(request.body(body.to_string()))
        .await
        .whole()
        .await;
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str(data).ok())
        .map(|response| parts(&response))
        .collect()
}

#[tokio::test]
async fn an_event_with_an_error_does_not_end_the_subscription() {
    let app = app().await;
    for (field, on_error, failed) in [
        ("ticks", "PROPAGATE", Value::Null),
        ("ticks", "NULL", json!({ "ticks": null })),
        ("ticks", "HALT", Value::Null),
        ("maybe_ticks", "PROPAGATE", json!({ "maybe_ticks": null })),
        ("maybe_ticks", "NULL", json!({ "maybe_ticks": null })),
        ("maybe_ticks", "HALT", Value::Null),
    ] {
        let expected = [
            (json!({ field: 1 }), Vec::new()),
            (failed, vec![json!([field])]),
            (json!({ field: 3 }), Vec::new()),
        ];
        let found = events(&app, &format!("subscription {{ {field} }}"), on_error).await;
        assert_eq!(found, expected, "{field} {on_error}");
    }
}

#[tokio::test]
async fn a_socket_takes_on_error_for_each_operation() {
    let app = app().await;
    let mut socket = Socket::ready(&app).await;
    for (id, on_error, data) in [
        ("1", "NULL", json!({ "lost": null, "fine": 1 })),
        ("2", "HALT", Value::Null),
    ] {
        let payload = json!({ "query": "{ lost fine }", "onError": on_error });
        socket
            .send(&json!({ "id": id, "type": "subscribe", "payload": payload }))
            .await;
        let next = socket.next().await;
        assert_eq!(next["type"], "next", "{next}");
        assert_eq!(parts(&next["payload"]), (data, vec![json!(["lost"])]));
        assert_eq!(socket.next().await["type"], "complete");
    }
}
