//! Session variables reach every statement of their request, and none of another.

mod service;

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc::db::SessionVariables;
use svc::prelude::*;
use svc::sqlx;
use svc_tests::App;

use service::{Note, ask, awaited, count, database, in_transaction, seen, serve};

/// One query for each path on which a request reads, and what a tenant's notes make of it.
fn paths(id: i32, ids: &[i32], bodies: &[&str]) -> Vec<(String, Value)> {
    let rows: Vec<Value> = ids
        .iter()
        .zip(bodies)
        .map(|(id, body)| json!({ "id": id, "body": body }))
        .collect();
    let shouted: Vec<Value> = bodies
        .iter()
        .map(|body| json!({ "shout": body.to_uppercase() }))
        .collect();
    let own = rows
        .iter()
        .find(|row| row["id"] == id)
        .cloned()
        .unwrap_or_default();
    let nodes: Vec<Value> = ids.iter().map(|id| json!({ "id": id })).collect();
    let neighbours: Vec<Value> = ids.iter().map(|_| json!({ "neighbours": nodes })).collect();
    let page = json!({ "total_count": ids.len(), "nodes": nodes });
    let computed =
        json!({ "count": ids.len(), "max": { "id": ids.last() }, "sum": { "shelf": ids.len() } });
    let mut sorted = bodies.to_vec();
    sorted.sort_unstable();
    let ends = [sorted[0], sorted[sorted.len() - 1]];
    let number = ids.len().to_string();
    let repository = [bodies, &sorted, &ends, &[&number, &number], bodies].concat();
    vec![
        (
            "{ paged(first: 9, order_by: [{ id: ASC }]) { total_count nodes { id } } }".to_owned(),
            json!({ "paged": page }),
        ),
        (
            "{ found_page(first: 9) { total_count nodes { id } } }".to_owned(),
            json!({ "found_page": page }),
        ),
        (
            "{ totals { count max { id } sum { shelf } } }".to_owned(),
            json!({ "totals": computed }),
        ),
        (
            "{ found_totals { count max { id } sum { shelf } } }".to_owned(),
            json!({ "found_totals": computed }),
        ),
        (
            "{ repository }".to_owned(),
            json!({ "repository": repository }),
        ),
        (
            "{ notes { neighbours(order_by: [{ id: ASC }]) { id } } }".to_owned(),
            json!({ "notes": neighbours }),
        ),
        (
            "{ found { neighbours(order_by: [{ id: ASC }]) { id } } }".to_owned(),
            json!({ "found": neighbours }),
        ),
        (
            "{ awaited { neighbours(order_by: [{ id: ASC }]) { id } } }".to_owned(),
            json!({ "awaited": neighbours }),
        ),
        (
            "{ notes(order_by: [{ id: ASC }]) { id body } }".to_owned(),
            json!({ "notes": rows }),
        ),
        (
            "{ notes(order_by: [{ id: ASC }]) { shout } }".to_owned(),
            json!({ "notes": shouted }),
        ),
        ("{ found { id body } }".to_owned(), json!({ "found": rows })),
        (
            "{ found { shout } }".to_owned(),
            json!({ "found": shouted }),
        ),
        (
            "{ awaited { id body } }".to_owned(),
            json!({ "awaited": rows }),
        ),
        (
            "{ count }".to_owned(),
            json!({ "count": ids.len().to_string() }),
        ),
        (
            "{ in_transaction }".to_owned(),
            json!({ "in_transaction": bodies }),
        ),
        (
            "{ on_connection }".to_owned(),
            json!({ "on_connection": bodies }),
        ),
        (
            format!("{{ note(id: {id}) {{ id body }} }}"),
            json!({ "note": own }),
        ),
        (
            format!("{{ found_one(id: {id}) {{ id body }} }}"),
            json!({ "found_one": own }),
        ),
        (
            format!("{{ exists(id: {id}) }}"),
            json!({ "exists": own != Value::Null }),
        ),
    ]
}

async fn check(app: &App, tenant: &str, (query, expected): (String, Value)) {
    let mut data = ask(app, Some(tenant), &query).await.data();
    // A 64-bit integer is a number while it is small.
    if let Some(count) = data.get_mut("count").filter(|count| count.is_number()) {
        *count = count.to_string().into();
    }
    assert_eq!(data, expected, "{query} of {tenant}");
}

/// For two tenants, in turn and at the same time.
#[tokio::test(flavor = "multi_thread")]
async fn every_path_sees_only_the_rows_of_its_tenant() {
    let (_database, url) = database().await;
    for pool_size in [1, 3] {
        let app = serve(&url, pool_size).await;
        // The id of the other tenant's note is asked for as well.
        let of_a = || {
            [
                paths(1, &[1, 3], &["a one", "a two"]),
                paths(2, &[1, 3], &["a one", "a two"]),
            ]
            .concat()
        };
        let of_b = || paths(2, &[2, 4, 5], &["b one", "b two", "b three"]);
        for (a, b) in of_a().into_iter().zip(of_b().into_iter().cycle()) {
            check(&app, "a", a).await;
            check(&app, "b", b).await;
        }
        let a = of_a()
            .into_iter()
            .chain(of_a())
            .map(|path| check(&app, "a", path));
        let b = of_b()
            .into_iter()
            .chain(of_b())
            .map(|path| check(&app, "b", path));
        tokio::join!(join_all(a), join_all(b));
    }
}

/// A database function that is a mutation, or that a resolver calls, runs as its tenant: it sees
/// the variable, its insert must satisfy the policy, and the entity that it returns is read under
/// the policy.
#[tokio::test(flavor = "multi_thread")]
async fn functions_run_as_their_tenant() {
    let (database, url) = database().await;
    for pool_size in [1, 3] {
        let app = serve(&url, pool_size).await;
        for (tenant, other) in [("a", "b"), ("b", "a")] {
            let query = "mutation { tenant_of_call called }";
            let both = json!({ "tenant_of_call": tenant, "called": tenant });
            assert_eq!(ask(&app, Some(tenant), query).await.data(), both);
            for field in ["add_note", "call_add"] {
                let body = format!("{tenant} by {field} {pool_size}");
                let query =
                    format!("mutation {{ note: {field}(body: \"{body}\") {{ body shout }} }}");
                let note = json!({ "note": { "body": body, "shout": body.to_uppercase() } });
                assert_eq!(
                    ask(&app, Some(tenant), &query).await.data(),
                    note,
                    "{field}"
                );
                let smuggled = format!(
                    "mutation {{ note: {field}(tenant: \"{other}\", body: \"smuggled\") {{ body }} }}"
                );
                let reply = ask(&app, Some(tenant), &smuggled).await;
                assert_eq!(reply.code(), "FORBIDDEN", "{field}");
                assert!(
                    !reply.text.contains("policy") && !reply.text.contains("tb_note"),
                    "{}",
                    reply.text
                );
            }
        }
        let together = (0..20).map(|n| {
            let (app, tenant) = (&app, if n % 2 == 0 { "a" } else { "b" });
            async move {
                let data = ask(app, Some(tenant), "mutation { tenant_of_call called }")
                    .await
                    .data();
                assert_eq!(data, json!({ "tenant_of_call": tenant, "called": tenant }));
            }
        });
        join_all(together).await;
        let nobody = ask(&app, None, "mutation { tenant_of_call called }")
            .await
            .data();
        assert_eq!(nobody, json!({ "tenant_of_call": "", "called": "" }));
    }
    let pool = database.pool().await;
    let wrong =
        "SELECT count(*) FROM tb_note WHERE body = 'smuggled' OR body NOT LIKE tenant || ' %'";
    assert_eq!(
        sqlx::query_scalar::<_, i64>(wrong)
            .fetch_one(&pool)
            .await
            .unwrap(),
        0
    );
}

/// A default of the database must not replace a value that the request does not have.
#[tokio::test]
async fn a_missing_session_variable_is_empty() {
    let (_database, url) = database().await;
    let app = serve(&url, 1).await;
    let nobody = json!({ "seen": { "tenant": "", "user": "" } });
    assert_eq!(
        ask(&app, None, "{ seen { tenant user } }").await.data(),
        nobody
    );
    assert_eq!(
        ask(&app, Some("b"), "{ seen { tenant } }").await.data(),
        json!({ "seen": { "tenant": "b" } })
    );
    assert_eq!(
        ask(&app, None, "{ seen { tenant user } }").await.data(),
        nobody
    );
    assert_eq!(
        ask(&app, None, "{ notes { id } }").await.data(),
        json!({ "notes": [] })
    );
    assert_eq!(
        ask(&app, None, "{ in_transaction on_connection }")
            .await
            .data(),
        json!({ "in_transaction": [], "on_connection": [] })
    );
    let twice = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    let twice = twice
        .header("x-tenant", "a")
        .header("x-tenant", "b")
        .header("x-user", "7'; --");
    let reply = app
        .send(twice.body(json!({ "query": "{ seen { tenant user } }" }).to_string()))
        .await;
    assert_eq!(
        reply.data(),
        json!({ "seen": { "tenant": "", "user": "user 7'; --" } })
    );
}

/// After a failed statement, an abandoned one, and transactions that end in every way, the only
/// connection of each pool has no tenant.
#[tokio::test(flavor = "multi_thread")]
async fn no_session_variable_stays_on_a_connection() {
    let (database, url) = database().await;
    let app = serve(&url, 1).await;
    let clean = async |after: &str| {
        let data = ask(&app, None, "{ notes { id } seen { tenant } }")
            .await
            .data();
        assert_eq!(
            data,
            json!({ "notes": [], "seen": { "tenant": "" } }),
            "after {after}"
        );
        // The default of the database comes back, or the setting is empty.
        let left = ask(&app, None, "{ left_in_pool }").await.data()["left_in_pool"].clone();
        assert!(
            left == "a" || left == "" || left == Value::Null,
            "{left} is left after {after}"
        );
    };
    assert_eq!(
        ask(&app, Some("b"), "{ broken { id } }").await.code(),
        "INTERNAL_SERVER_ERROR"
    );
    clean("a statement that failed").await;
    assert_eq!(
        ask(&app, Some("b"), "mutation { smuggle(tenant: \"a\") }")
            .await
            .code(),
        "FORBIDDEN"
    );
    clean("a connection whose statement failed").await;
    // They raise after a setting of their own that would outlive the transaction.
    for field in ["add_then_fail", "call_and_fail"] {
        let query = format!("mutation {{ {field}(body: \"undone\") {{ id }} }}");
        let reply = ask(&app, Some("a"), &query).await;
        assert_eq!(reply.message(), "no more notes", "{}", reply.text);
        clean(field).await;
    }
    ask(&app, Some("b"), "mutation { tenant_of_call called }")
        .await
        .data();
    clean("functions that answered").await;
    ask(
        &app,
        Some("b"),
        "mutation { add(body: \"undone\", commit: false) }",
    )
    .await
    .data();
    clean("a transaction that was dropped").await;
    ask(
        &app,
        Some("b"),
        "mutation { add(body: \"b four\", commit: true) }",
    )
    .await
    .data();
    clean("a transaction that was committed").await;
    let count = ask(&app, Some("b"), "{ in_transaction }").await.data();
    assert_eq!(
        count["in_transaction"].as_array().map(Vec::len),
        Some(4),
        "the dropped transaction added nothing"
    );
    let aborted = tokio::time::timeout(
        Duration::from_millis(200),
        ask(&app, Some("b"), "{ slow_notes { body } }"),
    );
    assert!(aborted.await.is_err(), "the statement sleeps for seconds");
    database.until_running("pg_sleep", 0).await;
    clean("a request that was aborted").await;
}

#[tokio::test]
async fn invalid_variable_names_prevent_startup() {
    for (variables, message) in [
        (
            SessionVariables::new().header("tenant", "x-tenant"),
            "a session variable is \"tenant\"; it must be a prefix and a name of ASCII letters, digits and `_`, such as app.tenant_id",
        ),
        (
            SessionVariables::new().header("app.tenant", "x tenant"),
            "a session variable is \"x tenant\"; it must be the name of an HTTP header, such as x-tenant-id",
        ),
    ] {
        let options = AppOptions::new()
            .database_url("postgres://me@localhost/x")
            .session_variables(variables);
        let error = create_svc_app(options.queries(queries![count]))
            .await
            .unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[tokio::test]
async fn a_panicking_session_variable_denies() {
    let (_database, url) = database().await;
    let variables = SessionVariables::new().with("app.tenant_id", |_| panic!("no tenant"));
    let options = AppOptions::new()
        .database_url(url)
        .session_variables(variables);
    let app = App::serve(options.queries(queries![seen, awaited, in_transaction])).await;
    for query in [
        "{ seen { tenant } }",
        "{ awaited { id } }",
        "{ in_transaction }",
    ] {
        assert_eq!(
            app.query(query).await.code(),
            "INTERNAL_SERVER_ERROR",
            "{query}"
        );
    }
}

/// A value is computed before the request may read, as its reads would have no tenant yet.
#[tokio::test]
async fn a_session_variable_cannot_read_the_database() {
    let (_database, url) = database().await;
    let variables = SessionVariables::new().with("app.tenant_id", |ctx| {
        let db = ctx.db().clone();
        let reads =
            futures_util::FutureExt::now_or_never(async move { db.find::<Note>().count().await });
        Some(if reads.is_some_and(|read| read.is_ok()) {
            "a".to_owned()
        } else {
            "b".to_owned()
        })
    });
    let options = AppOptions::new()
        .database_url(url)
        .session_variables(variables)
        .queries(queries![seen]);
    let app = App::serve(options).await;
    // The first request waits for the database, and the second finds it there.
    for _ in 0..2 {
        assert_eq!(
            app.query("{ seen { tenant } }").await.data(),
            json!({ "seen": { "tenant": "b" } })
        );
    }
}
