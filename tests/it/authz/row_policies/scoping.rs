//! With a policy, an answer is the one that a database has which holds the permitted rows alone.
//!
//! `SCOPING_TENANTS=2` asks everything as both tenants on each kind of views.

use serde_json::{Value, json};
use svc_tests::{App, TestDatabase, cases};

use super::service::{KINDS, ROWS, database, of_tenant, options};

/// Reads of every kind; each is also asked with the others around it.
pub(super) const READS: [&str; 26] = [
    "{ posts(orderBy: [{id: ASC}]) { id title score } }",
    "{ posts(orderBy: [{id: ASC}]) { id loud author { id name } } }",
    "{ posts(orderBy: [{score: DESC}, {id: ASC}], limit: 3, offset: 1) { id score } }",
    r#"{ posts(where: {OR: [{tenant: {eq: "b"}}, {id: {gt: 0}}]}, orderBy: [{id: ASC}]) { id tenant } }"#,
    "{ own: post(id: 3) { id } foreign: post(id: 1) { id title } nobody: post(id: 2) { id } }",
    "{ a: posts(limit: 2, orderBy: [{id: ASC}]) { id } b: posts(limit: 2, orderBy: [{id: DESC}]) { id } }",
    "{ page(first: 3, orderBy: [{id: ASC}]) { totalCount nodes { id } pageInfo { hasNextPage endCursor } } }",
    "{ page(last: 3, orderBy: [{score: ASC}]) { totalCount edges { cursor node { id loud } } pageInfo { hasPreviousPage } } }",
    "{ totals { count sum { score } avg { score } min { title score } max { title score } } }",
    "{ totals { groups(by: [LOCKED], orderBy: [{count: DESC}]) { key { locked } count sum { score } } } }",
    "{ totals { groups(by: [TENANT]) { key { tenant } count } } }",
    "{ totals { countDistinct { tenant score } groups(by: [AUTHOR__NAME], orderBy: [{countDistinct: {tenant: DESC}}]) { key { author { name } } count } } }",
    "{ totals { groups(by: [AUTHOR__TENANT, LOCKED], having: {countDistinct: {score: {gt: 1}}, max: {title: {like: \"post%\"}}}) { key { locked author { tenant } } count max { score } } } }",
    "{ users(orderBy: [{id: ASC}]) { id posts(orderBy: [{id: ASC}]) { id author { id posts { id } } } } }",
    "{ users(orderBy: [{id: ASC}]) { id few: posts(limit: 1, orderBy: [{score: DESC}]) { id score } } }",
    "{ posts(where: {author: {name: {contains: \"user\"}}}, orderBy: [{id: ASC}]) { id } }",
    "{ posts(where: {NOT: {author: {id: {gt: 0}}}}, orderBy: [{id: ASC}]) { id } }",
    "{ posts(where: {author: {posts: {some: {author: {id: {gt: 4}}}}}}, orderBy: [{id: ASC}]) { id } }",
    "{ users(where: {posts: {some: {score: {gt: 60}}}}, orderBy: [{id: ASC}]) { id } }",
    "{ users(where: {posts: {every: {score: {lt: 90}}}}, orderBy: [{id: ASC}]) { id } }",
    "{ users(where: {posts: {none: {locked: {eq: true}}}}, orderBy: [{id: ASC}]) { id } }",
    "{ posts(orderBy: [{author: {name: ASC}}, {id: ASC}]) { id } }",
    "{ found { id author { name } } inHand { id author { name posts(orderBy: [{id: ASC}]) { id } } } }",
    "{ paged(first: 4) { totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage } } }",
    "{ everything }",
    "{ posts(where: {title: {like: \"post 1%\"}}, orderBy: [{id: ASC}]) { id } totals(where: {score: {gte: 40}}) { count } }",
];

pub(super) async fn ask(app: &App, tenant: &str, query: &str) -> String {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    app.send(
        request
            .header("x-tenant", tenant)
            .body(json!({ "query": query }).to_string()),
    )
    .await
    .text
}

/// Each read with its answer from a service without policies, whose rows do not change.
pub(super) async fn answers<'a>(
    open: &App,
    reads: impl IntoIterator<Item = &'a &'static str>,
) -> Vec<(&'static str, String)> {
    let mut answers = Vec::new();
    for &read in reads {
        let answer = open.query(read).await.text;
        assert!(!answer.contains("errors"), "{read}: {answer}");
        answers.push((read, answer));
    }
    answers
}

/// The rows of one tenant alone.
async fn only(tenant: &str) -> TestDatabase {
    let others = format!("tenant IS DISTINCT FROM '{tenant}'");
    database(&format!(
        "{ROWS}; DELETE FROM tb_user WHERE {others}; DELETE FROM tb_post WHERE {others};"
    ))
    .await
}

#[tokio::test]
async fn every_read_returns_only_permitted_rows() {
    let all = database(ROWS).await;
    let is_whole = cases("SCOPING_TENANTS", 1, 2) > 1;
    for (tenant_at, (tenant, other)) in [("a", "b"), ("b", "a")].into_iter().enumerate() {
        let permitted = only(tenant).await;
        for (kind_at, kind) in KINDS.into_iter().enumerate() {
            let governed = App::serve(options(kind, &all, Some(of_tenant))).await;
            let open = App::serve(options(kind, &permitted, None)).await;
            // Where one tenant is enough, each read has one on each kind, and both over the kinds.
            let is_asked = |read: usize| is_whole || (kind_at + read) % 2 == tenant_at;
            let asked = READS.iter().enumerate().filter(|(read, _)| is_asked(*read));
            let right = answers(&open, asked.map(|(_, read)| read)).await;
            // From the second time on statements are bound that were kept for the other tenant or
            // for all.
            for round in 0..3 {
                for (read, expected) in &right {
                    assert_eq!(
                        ask(&governed, tenant, read).await,
                        *expected,
                        "{kind} {tenant} {round}: {read}"
                    );
                    ask(&governed, if round == 0 { other } else { "all" }, read).await;
                }
            }
        }
    }
}

#[tokio::test]
async fn a_policy_that_permits_all_changes_nothing() {
    let all = database(ROWS).await;
    for kind in KINDS {
        let governed = App::serve(options(kind, &all, Some(of_tenant))).await;
        let open = App::serve(options(kind, &all, None)).await;
        for read in READS {
            assert_eq!(
                ask(&governed, "all", read).await,
                open.query(read).await.text,
                "{kind}: {read}"
            );
        }
    }
}

/// The row that a database function returns is not enough for a type with policies.
#[tokio::test]
async fn mutations_return_only_permitted_entities() {
    let all = database(ROWS).await;
    for kind in KINDS {
        let app = App::serve(options(kind, &all, Some(of_tenant))).await;
        let touch =
            |id: i32| format!("mutation {{ touch(postId: {id}) {{ id title author {{ id }} }} }}");
        let answer = |text: String| serde_json::from_str::<Value>(&text).unwrap();
        assert_eq!(
            answer(ask(&app, "a", &touch(3)).await)["data"]["touch"]["id"],
            json!(3),
            "{kind}"
        );
        let foreign = answer(ask(&app, "a", &touch(1)).await);
        assert_eq!(foreign, json!({ "data": { "touch": null } }), "{kind}");
        assert_eq!(
            answer(ask(&app, "b", &touch(1)).await)["data"]["touch"]["id"],
            json!(1),
            "{kind}"
        );
        let touched = answer(ask(&app, "b", "mutation { touchAll { id tenant } }").await);
        let rows = touched["data"]["touchAll"].as_array().unwrap();
        assert!(
            !rows.is_empty() && rows.iter().all(|row| row["tenant"] == "b"),
            "{kind}: {touched}"
        );
    }
}
