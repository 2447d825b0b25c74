//! The consequences of a policy's decision, and of one that cannot be applied.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use svc::prelude::*;
use svc::{Operation, StartError};
use svc_tests::{App, Log};

use super::service::{ROWS, SharedPolicy, database, governed, of_tenant, options};

async fn ask(app: &App, tenant: Option<&str>, query: &str) -> Value {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    let request = tenant.into_iter().fold(request, |request, tenant| {
        request.header("x-tenant", tenant)
    });
    app.send(request.body(json!({ "query": query }).to_string()))
        .await
        .json()
}

#[tokio::test]
async fn without_a_permitting_policy_there_are_no_rows() {
    let database = database(ROWS).await;
    let app = App::serve(options("columns", &database, Some(of_tenant))).await;
    let read = "{ posts { id } post(id: 1) { id } totals { count } users { id } page { totalCount nodes { id } } }";
    let nothing = json!({ "posts": [], "post": null, "totals": { "count": 0 }, "users": [],
        "page": { "totalCount": 0, "nodes": [] } });
    assert_eq!(ask(&app, None, read).await, json!({ "data": nothing }));
}

#[tokio::test]
async fn a_failing_policy_denies() {
    let database = database(ROWS).await;
    let app = App::serve(options("columns", &database, Some(of_tenant))).await;
    for (tenant, code, message) in [
        ("quoted", "NO_TENANT", "name a tenant"),
        ("broken", "FORBIDDEN", "the rows of `Post` are not allowed"),
        ("panic", "FORBIDDEN", "the rows of `Post` are not allowed"),
    ] {
        for read in [
            "{ posts { id } }",
            "{ post(id: 1) { id } }",
            "{ totals { count } }",
            "{ everything }",
        ] {
            let answer = ask(&app, Some(tenant), read).await;
            let error = &answer["errors"][0];
            assert_eq!(error["extensions"]["code"], code, "{read}: {answer}");
            assert_eq!(error["message"], message, "{read}: {answer}");
            assert!(
                answer["data"].is_null() || answer["data"]["post"].is_null(),
                "{read}: {answer}"
            );
        }
    }
    assert_eq!(
        database.statements("FROM \"c_post\"").await,
        0,
        "a denial sends no SQL"
    );
}

/// The log names the column and its view.
#[tokio::test]
async fn a_condition_on_an_unknown_column_denies() {
    let log = Log::start();
    let database = database(ROWS).await;
    let policy: SharedPolicy =
        Arc::new(|_| Ok(RowDecision::allow_where(col("no_such_column").eq(1))));
    let app = App::serve(governed("columns", &database, &[policy])).await;
    let answer = ask(&app, None, "{ posts { id } }").await;
    assert_eq!(
        answer["errors"][0]["extensions"]["code"], "FORBIDDEN",
        "{answer}"
    );
    assert!(!answer.to_string().contains("no_such_column"), "{answer}");
    log.has("`c_post` has neither a column `no_such_column`")
        .await;
}

#[tokio::test]
async fn a_policy_is_evaluated_once_per_request() {
    let database = database(ROWS).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let policy: SharedPolicy = Arc::new(move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        Ok(RowDecision::allow())
    });
    let app = App::serve(governed("columns", &database, &[policy])).await;
    ask(
        &app,
        None,
        "{ posts { id author { posts { id } } } totals { count } everything }",
    )
    .await;
    assert_eq!(asked.swap(0, Ordering::SeqCst), 1);
    ask(&app, None, "{ __typename }").await;
    assert_eq!(asked.load(Ordering::SeqCst), 0, "no rows are read");
}

/// The SQL of an operation does not apply policies, so it is not used for rows under one.
#[tokio::test]
async fn registered_sql_is_not_used_under_a_policy() {
    let database = database(ROWS).await;
    let cached = "query Cached { posts(orderBy: [{id: ASC}], limit: 2) { id } }";
    let operation = Operation::new(cached)
        .sql("SELECT jsonb_build_array(jsonb_build_object('id', 99)) AS posts");
    let app =
        App::serve(options("columns", &database, Some(of_tenant)).operations([operation.clone()]))
            .await;
    assert_eq!(
        ask(&app, Some("a"), cached).await["data"]["posts"],
        json!([{ "id": 3 }, { "id": 4 }])
    );
    let app = App::serve(options("columns", &database, None).operations([operation])).await;
    assert_eq!(
        ask(&app, Some("a"), cached).await["data"]["posts"],
        json!([{ "id": 99 }])
    );
}

/// The SQL is used as long as no policy applies to its rows.
#[tokio::test]
async fn registered_sql_is_used_for_types_without_a_policy() {
    #[svc_type(sql_source = "v_city")]
    struct City {
        name: String,
    }
    #[svc::query]
    async fn cities() -> Vec<City>;
    let database = database(ROWS).await;
    let cached = "query Cities { cities(limit: 1) { name } }";
    let operation = Operation::new(cached)
        .sql("SELECT jsonb_build_array(jsonb_build_object('name', 'Ghent')) AS cities");
    let options = options("columns", &database, Some(of_tenant))
        .queries(queries![cities])
        .operations([operation]);
    let app = App::serve(options).await;
    assert_eq!(
        ask(&app, Some("a"), cached).await["data"]["cities"],
        json!([{ "name": "Ghent" }])
    );
}

#[tokio::test]
async fn a_policy_requires_a_type_of_the_schema() {
    #[svc_type(sql_source = "v_stray")]
    struct Stray {
        id: i32,
    }
    let database = database(ROWS).await;
    let options =
        options("columns", &database, None).row_policy::<Stray>(|_| Ok(RowDecision::allow()));
    let error = create_svc_app(options).await.map(drop).unwrap_err();
    assert!(
        matches!(error, StartError::RowPolicy(ref why) if why.contains("Stray`, of which")),
        "{error}"
    );
}

/// Whether PostgreSQL evaluates a pattern depends on its plan, which hidden rows change as well.
#[tokio::test]
async fn an_invalid_pattern_reveals_no_hidden_row() {
    let database = database(ROWS).await;
    for kind in ["columns", "data", "tv"] {
        let policy: SharedPolicy = Arc::new(|_| Ok(RowDecision::allow_where(col("id").ne(1))));
        let app = App::serve(governed(kind, &database, &[policy])).await;
        let bad = r#"title: { matches: "[" }"#;
        let posts =
            |id: i32| format!("{{ posts(where: {{ id: {{ eq: {id} }}, {bad} }}) {{ id }} }}");
        let seen = ask(&app, None, &posts(2)).await;
        assert_eq!(
            seen["errors"][0]["extensions"]["code"], "BAD_USER_INPUT",
            "{kind}"
        );
        assert_eq!(ask(&app, None, &posts(1)).await, seen, "{kind}");
        let users = |id: i32| {
            format!(
                "{{ users(where: {{ posts: {{ some: {{ id: {{ eq: {id} }}, {bad} }} }} }}) {{ id }} }}"
            )
        };
        let those = ask(&app, None, &users(2)).await;
        assert_eq!(
            those["errors"][0]["extensions"]["code"], "BAD_USER_INPUT",
            "{kind}"
        );
        assert_eq!(ask(&app, None, &users(1)).await, those, "{kind}");
    }
}
