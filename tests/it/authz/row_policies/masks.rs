//! Masks: an answer is the one that a database has in which the masked values are null.
//!
//! `MASK_TENANTS=3` asks everything as every tenant on each kind of views.

use serde_json::{Value, json};
use svc::prelude::*;
use svc::testing::{Subscription, TestService};
use svc_tests::{App, TestDatabase, cases, eventually};

use super::scoping::{READS, answers, ask};
use super::service::{KINDS, ROWS, database, guarded, masked, of_tenant, options};

/// Further reads of what is masked.
const MASKED: [&str; 10] = [
    "{ totals { groups(by: [SCORE], orderBy: [{key: {score: DESC}}]) { key { score } count } } }",
    "{ totals { groups(by: [TITLE, LOCKED]) { key { title locked } count max { score } } } }",
    "{ totals { countDistinct { title score } groups(by: [TENANT], having: {countDistinct: {score: {lt: 9}}, OR: [{sum: {score: {gt: 50}}}, {max: {title: {isnull: true}}}]}, orderBy: [{countDistinct: {title: DESC}}]) { key { tenant } count } } }",
    "{ page(first: 30, orderBy: [{score: DESC}]) { edges { cursor node { score } } pageInfo { endCursor } } }",
    "{ posts(where: {score: {isnull: true}}, orderBy: [{id: ASC}]) { id title } }",
    "{ totals { sum { score } avg { score } min { title } } posts(limit: 2, orderBy: [{title: DESC}]) { id title } }",
    "{ posts(where: {NOT: {title: {startswith: \"post\"}}}, orderBy: [{id: ASC}]) { id } }",
    "{ posts(where: {score: {nin: [1, 2]}}, orderBy: [{title: ASC}, {id: ASC}]) { id title score } }",
    "{ users(where: {posts: {some: {title: {like: \"post 2%\"}}}}, orderBy: [{id: ASC}]) { id } }",
    "{ users(orderBy: [{id: ASC}]) { posts(where: {score: {gt: 50}}, orderBy: [{score: ASC}]) { id title } } }",
];

/// Whether a tenant asks a read on a kind of views in every run, by their numbers: one that has
/// values masked asks each read on each kind, and the one that sees all values on one kind.
fn is_usual(tenant: usize, kind: usize, read: usize) -> bool {
    match tenant {
        0 | 1 => (kind + read) % 2 == tenant,
        _ => (kind + read).is_multiple_of(3),
    }
}

#[tokio::test]
async fn a_masked_value_is_null_in_every_read() {
    let all = database(ROWS).await;
    let tenants = [
        ("a", "tenant IS DISTINCT FROM 'a'"),
        ("b", "tenant IS DISTINCT FROM 'b'"),
        ("all", "false"),
    ];
    let is_whole = cases("MASK_TENANTS", 1, 3) > 1;
    for (tenant_at, (tenant, hidden)) in tenants.into_iter().enumerate() {
        let nulls =
            format!("{ROWS}; UPDATE tb_post SET title = NULL, score = NULL WHERE {hidden};");
        let nulls = database(&nulls).await;
        let other = if tenant == "b" { "a" } else { "b" };
        for (kind_at, kind) in KINDS.into_iter().enumerate() {
            let governed = App::serve(masked(kind, &all, of_tenant)).await;
            let open = App::serve(options(kind, &nulls, None)).await;
            let reads = READS.iter().chain(&MASKED).enumerate();
            let asked = reads.filter(|(read, _)| is_whole || is_usual(tenant_at, kind_at, *read));
            let right = answers(&open, asked.map(|(_, read)| read)).await;
            for round in 0..2 {
                for (read, expected) in &right {
                    assert_eq!(
                        ask(&governed, tenant, read).await,
                        *expected,
                        "{kind} {tenant} {round}: {read}"
                    );
                    // Statements that are kept hold for masks of the same form alone.
                    ask(&governed, if round == 0 { other } else { "all" }, read).await;
                }
            }
        }
    }
}

/// A cursor contains the values that the client saw, and pages continue there, whatever the rows
/// contain.
#[tokio::test]
async fn pages_ordered_by_a_masked_field_continue_at_the_cursor() {
    let all = database(ROWS).await;
    let nulls = format!(
        "{ROWS}; UPDATE tb_post SET title = NULL, score = NULL WHERE tenant IS DISTINCT FROM 'a';"
    );
    let nulls = database(&nulls).await;
    for kind in KINDS {
        let governed = App::serve(masked(kind, &all, of_tenant)).await;
        let open = App::serve(options(kind, &nulls, None)).await;
        let mut after = "null".to_owned();
        for page in 0..9 {
            let read = format!(
                "{{ page(first: 5, after: {after}, orderBy: [{{score: ASC}}]) {{ edges {{ cursor node {{ id score }} }}
                   pageInfo {{ hasNextPage endCursor }} }} }}"
            );
            let expected = open.query(&read).await;
            assert_eq!(
                ask(&governed, "a", &read).await,
                expected.text,
                "{kind} {page}"
            );
            let info = expected.json()["data"]["page"]["pageInfo"].take();
            after = info["endCursor"].to_string();
            assert_eq!(info["hasNextPage"], json!(page < 7), "{kind} {page}");
            if page == 7 {
                break;
            }
        }
        let made_by_hand = ask(
            &governed,
            "a",
            "{ page(first: 5, after: \"WzEsWyJ4Il1d\") { totalCount } }",
        )
        .await;
        assert!(made_by_hand.contains("cursor"), "{kind}: {made_by_hand}");
    }
}

/// The JSON of a database function contains more than clients may see.
#[tokio::test]
async fn entities_of_mutations_are_masked() {
    let all = database(ROWS).await;
    for kind in KINDS {
        let app = App::serve(masked(kind, &all, of_tenant)).await;
        let touched = async |tenant: &str| -> Value {
            serde_json::from_str(
                &ask(
                    &app,
                    tenant,
                    "mutation { touch(postId: 3) { id title loud } }",
                )
                .await,
            )
            .unwrap()
        };
        let own = json!({ "id": 3, "title": "post 3", "loud": "POST 3" });
        assert_eq!(
            touched("a").await,
            json!({ "data": { "touch": own } }),
            "{kind}"
        );
        let masked = json!({ "id": 3, "title": null, "loud": "" });
        assert_eq!(
            touched("b").await,
            json!({ "data": { "touch": masked } }),
            "{kind}"
        );
    }
}

#[svc_type(sql_source = "v_person")]
struct Person {
    id: i32,
    name: String,
    email: Option<String>,
}

#[svc_type(sql_source = "v_letter")]
struct Letter {
    id: i32,
    sender: Person,
}

#[svc::query]
async fn people() -> Vec<Person>;
#[svc::query]
async fn letters() -> Vec<Letter>;

#[tokio::test]
async fn an_unenforceable_mask_is_a_startup_error() {
    let database = TestDatabase::new("").await;
    let start = async |field: &str, embeds: bool| {
        let options = AppOptions::new()
            .database_url(database.url())
            .queries(queries![people]);
        let options = if embeds {
            options.queries(queries![letters])
        } else {
            options
        };
        let masked = options.mask_where::<Person>(field, |_| Ok(RowDecision::deny()));
        create_svc_app(masked)
            .await
            .map(drop)
            .map_err(|error| error.to_string())
    };
    assert_eq!(start("email", false).await, Ok(()));
    for (field, embeds, why) in [
        ("name", false, "can be null; declare it as an `Option`"),
        (
            "mail",
            false,
            "is not a stored field of it, as Rust names it",
        ),
        (
            "email",
            true,
            "Letter::sender` embeds such rows, which a mask does not reach",
        ),
    ] {
        let error = start(field, embeds).await.unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

/// A filter by a masked score matches no event, as it would reveal whose score it is.
#[tokio::test]
async fn an_event_filter_does_not_reveal_a_masked_value() {
    let rows = "INSERT INTO tb_post VALUES (1, 'one', 'a', 50, true, NULL), (2, 'two', 'a', 50, false, NULL);";
    let database = database(rows).await;
    let service = TestService::start(guarded("columns", &database))
        .await
        .unwrap();
    let document = "subscription { changed(score: [50]) { id score } }";
    // A busy machine may take longer to listen than a subscriber waits.
    let mut answers = eventually(async || {
        let subscription = Subscription::new(document).header("x-tenant", "a").unwrap();
        service
            .subscribe(subscription)
            .await
            .map_err(|refused| refused.to_string())
    })
    .await;
    for id in [1, 2] {
        let event = format!(r#"{{"id": {id}, "op": "update", "score": 50}}"#);
        database
            .execute(&format!("SELECT pg_notify('post_changed', '{event}')"))
            .await;
    }
    let first = tokio::time::timeout(std::time::Duration::from_secs(120), answers.next()).await;
    assert_eq!(
        first.unwrap(),
        Some(json!({ "data": { "changed": { "id": 2, "score": 50 } } }))
    );
}
