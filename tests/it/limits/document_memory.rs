//! Documents, their plans and the statements of those share one bound in bytes.

use std::fmt::Write as _;
use std::ops::Range;

use serde_json::{Value, json};
use svc::prelude::*;
use svc::{Limits, SvcConfig};
use svc_tests::{App, Reply, TestDatabase, is_alone, resident};

#[svc_type(sql_source = "v_person")]
pub(super) struct Person {
    id: i32,
    name: String,
    city: String,
    email: String,
    #[relation(to = "author_id")]
    notes: Many<Note>,
}

#[svc_type(sql_source = "v_note")]
pub(super) struct Note {
    id: i32,
    title: String,
    body: String,
    author_id: i32,
    #[relation]
    author: One<Person>,
}

#[svc::query]
async fn people() -> Vec<Person>;

pub(super) const SQL: &str = "
    CREATE TABLE person (id int PRIMARY KEY, name text NOT NULL, city text NOT NULL, email text NOT NULL);
    CREATE TABLE note (id int PRIMARY KEY, title text NOT NULL, body text NOT NULL, author_id int NOT NULL);
    CREATE VIEW v_person AS SELECT * FROM person;
    CREATE VIEW v_note AS SELECT * FROM note;
    INSERT INTO person VALUES (1, 'Ada', 'London', 'ada@example.org');
    INSERT INTO note VALUES (1, 'One', 'First', 1);";

/// The number of fragments.
const FRAGMENTS: usize = 7;
/// The number of aliases that spread another subset of them each.
const ALIASES: usize = 44;
/// The variables of the conditions.
const VARIABLES: [&str; 5] = ["a", "b", "c", "d", "e"];
/// A mebibyte.
const MIB: u64 = 1 << 20;

/// A document that has another plan for each combination of its variables.
fn document(number: usize) -> String {
    let declared: String = VARIABLES
        .iter()
        .map(|name| format!("${name}: Boolean! "))
        .collect();
    let mut text = format!("query Q{number}({declared}) {{");
    for alias in 1..=ALIASES {
        let spreads = (0..FRAGMENTS).filter(|fragment| (127 - alias) >> fragment & 1 == 1);
        let spreads: String = spreads.map(|fragment| format!("...f{fragment} ")).collect();
        let _ = write!(text, " a{alias}: people(limit: 1) {{ {spreads} }}");
    }
    text += "}";
    let (person, note) = ("id name city email", "id title body author_id");
    for fragment in 0..FRAGMENTS {
        let condition = VARIABLES[fragment % VARIABLES.len()];
        let _ = write!(
            text,
            " fragment f{fragment} on Person {{ {person} notes(limit: 1) {{ {note} author {{ {person} \
             notes(limit: 1) {{ {note} author @include(if: ${condition}) {{ {person} }} }} }} }} }}"
        );
    }
    text
}

/// The variables in one of their combinations.
fn variables(combination: usize) -> Value {
    let value =
        |(bit, name): (usize, &&str)| ((*name).to_owned(), json!(combination >> bit & 1 == 1));
    Value::Object(VARIABLES.iter().enumerate().map(value).collect())
}

async fn app(database: &TestDatabase, complexity: u64) -> App {
    let config = SvcConfig {
        database: svc::DatabaseConfig {
            url: Some(database.url()),
            ..svc::DatabaseConfig::default()
        },
        operations: svc::OperationsConfig {
            document_cache_size: 4,
            ..svc::OperationsConfig::default()
        },
        ..SvcConfig::default()
    };
    let limits = Limits {
        complexity,
        relations: 10_000,
        ..Limits::default()
    };
    App::serve(
        AppOptions::new()
            .config(config)
            .limits(limits)
            .queries(queries![people]),
    )
    .await
}

/// The memory that documents gain by combinations of their variables.
async fn gain(
    app: &App,
    documents: Range<usize>,
    combinations: usize,
    check: impl Fn(&Reply),
) -> u64 {
    let before = resident();
    for number in documents {
        let document = document(number);
        for combination in 0..combinations {
            check(&app.query_with(&document, variables(combination)).await);
        }
    }
    resident().saturating_sub(before)
}

#[tokio::test]
async fn a_refused_operation_leaves_no_plans() {
    if !is_alone(module_path!(), "a_refused_operation_leaves_no_plans") {
        return;
    }
    let app = app(&TestDatabase::new(SQL).await, 500).await.unwatched();
    let refused = |reply: &Reply| assert_eq!(reply.code(), "QUERY_TOO_COMPLEX", "{}", reply.text);
    gain(&app, 0..1, 32, refused).await;
    let gained = gain(&app, 1..5, 32, refused).await;
    assert!(
        gained < 16 * MIB,
        "four documents have added {} MiB",
        gained / MIB
    );
}

#[tokio::test]
async fn plans_and_statements_count_towards_the_cache_bound() {
    if !is_alone(
        module_path!(),
        "plans_and_statements_count_towards_the_cache_bound",
    ) {
        return;
    }
    let app = app(&TestDatabase::new(SQL).await, 1_000_000)
        .await
        .unwatched();
    let answered = |reply: &Reply| drop(reply.data());
    gain(&app, 0..1, 8, answered).await;
    let gained = gain(&app, 1..5, 8, answered).await;
    assert!(
        gained < 12 * MIB,
        "four documents have added {} MiB",
        gained / MIB
    );
}

#[tokio::test]
async fn evicted_documents_are_prepared_again() {
    let app = app(&TestDatabase::new(SQL).await, 1_000_000).await;
    let first = app.query_with(&document(0), variables(31)).await.data();
    assert_eq!(first["a1"][0]["notes"][0]["author"]["name"], "Ada");
    for number in 1..30 {
        assert_eq!(
            app.query_with(&document(number), variables(31))
                .await
                .data(),
            first
        );
    }
    assert_eq!(
        app.query_with(&document(0), variables(31)).await.data(),
        first
    );
}

#[tokio::test]
async fn planning_stops_at_the_complexity_limit() {
    let app = app(&TestDatabase::new(SQL).await, 1_000).await;
    let reply = app.query_with(&document(0), variables(31)).await;
    assert!(
        reply.message().contains("a complexity of at least 1001"),
        "{}",
        reply.text
    );
}

#[test]
fn the_document_cache_size_can_be_set() {
    let config = |value: &str| {
        SvcConfig::from_variables(|name| {
            (name == "SVC_DOCUMENT_CACHE_SIZE").then(|| value.to_owned())
        })
    };
    assert_eq!(config("16").unwrap().operations.document_cache_size, 16);
    assert_eq!(SvcConfig::default().operations.document_cache_size, 64);
    let error = config("0").unwrap_err().to_string();
    assert_eq!(
        error,
        "SVC_DOCUMENT_CACHE_SIZE is \"0\"; it must be a number of MiB from 1 to 1048576"
    );
}
