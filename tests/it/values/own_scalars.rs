//! Scalars of one's own say what is wrong with a value in the words of the service.

use serde_json::{Value as Json, json};
use svc::async_graphql::Value;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

/// A number of a ticket, which has its rule in the words of async-graphql, of `str::parse` and of
/// its own.
struct Ticket(String);

#[svc_scalar]
impl ScalarType for Ticket {
    fn parse(value: Value) -> InputValueResult<Self> {
        let Value::String(text) = &value else {
            return Err(InputValueError::expected_type(value));
        };
        if !text.starts_with("T-") {
            return Err(InputValueError::custom("a ticket begins with `T-`"));
        }
        text[2..].parse::<u16>()?;
        Ok(Self(text.clone()))
    }
    fn to_value(&self) -> Value {
        Value::from(self.0.as_str())
    }
}

/// Reads what another type reads.
struct Seats(i32);

#[svc_scalar]
impl ScalarType for Seats {
    fn parse(value: Value) -> InputValueResult<Self> {
        <i32 as ScalarType>::parse(value)
            .map(Self)
            .map_err(InputValueError::propagate)
    }
    fn to_value(&self) -> Value {
        Value::from(self.0)
    }
}

#[svc::query]
fn of_ticket(ticket: Option<Ticket>) -> bool {
    ticket.is_some()
}

#[svc::query]
fn of_tickets(tickets: Vec<Ticket>) -> i32 {
    i32::try_from(tickets.len()).unwrap_or(i32::MAX)
}

#[svc::query]
fn of_seats(seats: Seats) -> i32 {
    seats.0
}

async fn app() -> App {
    let url = TestDatabase::empty().await;
    let queries = queries![of_ticket, of_tickets, of_seats];
    App::serve(AppOptions::new().database_url(url).queries(queries)).await
}

/// The message about a value, which is the same for a literal and for a variable but for their
/// places.
async fn refused(
    app: &App,
    field: &str,
    argument: &str,
    ty: &str,
    literal: &str,
    value: Json,
) -> String {
    let as_literal = app
        .query(&format!("{{ {field}({argument}: {literal}) }}"))
        .await;
    let document = format!("query ($v: {ty}) {{ {field}({argument}: $v) }}");
    let as_variable = app.query_with(&document, json!({ "v": value })).await;
    assert_eq!(
        (as_literal.code(), as_variable.code()),
        ("GRAPHQL_VALIDATION_FAILED".into(), "BAD_USER_INPUT".into())
    );
    let messages = [as_literal, as_variable].map(|reply| {
        let message = reply.message();
        for word in [
            "Expected input type",
            "Failed to parse",
            "occurred while",
            "Optional",
        ] {
            assert!(!message.contains(word), "{message}");
        }
        let start = message.find("`Ticket`").or_else(|| message.find("`Seats`"));
        start.map_or(message.clone(), |start| message[start..].to_owned())
    });
    assert_eq!(messages[0], messages[1]);
    messages[0].clone()
}

#[tokio::test]
async fn a_value_of_another_kind_is_refused_with_a_message_of_svc() {
    let app = app().await;
    for (literal, value, shown) in [
        ("7", json!(7), "7"),
        ("1.5", json!(1.5), "1.5"),
        ("true", json!(true), "true"),
        ("{a: 1}", json!({ "a": 1 }), "{a: 1}"),
        ("[7]", json!([7]), "[7]"),
    ] {
        let message = refused(&app, "of_ticket", "ticket", "Ticket", literal, value).await;
        assert_eq!(
            message,
            format!("`Ticket`: expected another kind of value, found {shown}"),
            "{literal}"
        );
    }
    let message = refused(
        &app,
        "of_tickets",
        "tickets",
        "[Ticket!]!",
        "[\"T-1\", 7]",
        json!(["T-1", 7]),
    )
    .await;
    assert_eq!(message, "`Ticket`: expected another kind of value, found 7");
    let message = refused(&app, "of_seats", "seats", "Seats!", "\"x\"", json!("x")).await;
    assert_eq!(message, "`Seats`: expected Int, found \"x\"");
}

#[tokio::test]
async fn a_broken_rule_is_reported_with_the_value() {
    let app = app().await;
    let message = refused(&app, "of_ticket", "ticket", "Ticket", "\"7\"", json!("7")).await;
    assert_eq!(message, "`Ticket`: a ticket begins with `T-`, found \"7\"");
    let message = refused(
        &app,
        "of_ticket",
        "ticket",
        "Ticket",
        "\"T-x\"",
        json!("T-x"),
    )
    .await;
    assert_eq!(
        message,
        "`Ticket`: invalid digit found in string, found \"T-x\""
    );
}

#[tokio::test]
async fn null_in_a_list_is_refused_by_name() {
    let app = app().await;
    let reply = app
        .query_with(
            "query ($v: [Ticket!]!) { of_tickets(tickets: $v) }",
            json!({ "v": [null] }),
        )
        .await;
    assert_eq!(reply.code(), "BAD_USER_INPUT", "{}", reply.text);
    assert!(reply.message().contains("Ticket"), "{}", reply.text);
    let reply = app.query("{ of_tickets(tickets: [null]) }").await;
    assert!(reply.message().contains("Ticket"), "{}", reply.text);
}
