//! Filters of decisions are on every read of the rows.

use serde_json::json;
use svc::authz::Authorizer;
use svc::prelude::*;
use svc_tests::App;

use super::service::{CACHED, ask_rust, codes, database, options};

/// A policy that gives the same decision to everyone.
struct Always(AuthorizationDecision);

impl Authorizer for Always {
    async fn authorize_operation(&self, _: AuthorizationRequest) -> Result<AuthorizationDecision> {
        Ok(self.0.clone())
    }
}

#[tokio::test]
async fn lists_single_rows_and_aggregates_are_filtered_alike() {
    let database = database().await;
    for decision in [
        AuthorizationDecision::allow_filtered([("tenant", "a")]),
        AuthorizationDecision::allow_where(col("tenant").eq("a").and(col("title").ne("two"))),
    ] {
        let app = App::serve(options(&database).authorizer(Always(decision))).await;
        let own = json!([{ "id": 1 }, { "id": 3 }]);
        assert_eq!(app.query("{ notes { id } }").await.data()["notes"], own);
        assert_eq!(
            ask_rust(&app, "{ notes { id } }").await["data"]["notes"],
            own
        );
        assert_eq!(
            app.query(CACHED).await.data()["notes"],
            own,
            "the SQL of the operation has no filter"
        );
        assert_eq!(
            app.query("{ note(id: 2) { id } }").await.data(),
            json!({ "note": null })
        );
        assert_eq!(
            app.query("{ statistics { count } }").await.data(),
            json!({ "statistics": { "count": 2 } })
        );
        let wider =
            r#"{ notes(where: { OR: [{ id: { gt: 0 } }, { tenant: { eq: "b" } }] }) { id } }"#;
        assert_eq!(app.query(wider).await.data()["notes"], own);
    }
}

#[tokio::test]
async fn a_null_filter_matches_only_null() {
    let database = database().await;
    let decision = AuthorizationDecision::allow_filtered([("tenant", None::<String>)]);
    let app = App::serve(options(&database).authorizer(Always(decision))).await;
    assert_eq!(
        app.query("{ notes { id } }").await.data(),
        json!({ "notes": [{ "id": 4 }] })
    );
}

/// A mutation is allowed or denied as a whole.
#[tokio::test]
async fn a_filter_for_a_mutation_is_ignored() {
    let database = database().await;
    let decision = AuthorizationDecision::allow_filtered([("tenant", "a")]);
    let app = App::serve(options(&database).authorizer(Always(decision))).await;
    assert_eq!(
        app.query(r#"mutation { rename(noteId: 2, title: "x") }"#)
            .await
            .data(),
        json!({ "rename": 2 })
    );
}

#[tokio::test]
async fn a_filter_on_an_unknown_column_denies() {
    let database = database().await;
    for (column, code) in [
        ("tenant\" OR true --", "FORBIDDEN"),
        ("Tenant", "FORBIDDEN"),
        ("", "FORBIDDEN"),
        (&*"t".repeat(64), "FORBIDDEN"),
        ("no_such_column", "FORBIDDEN"),
    ] {
        let decision = AuthorizationDecision::allow_filtered([(column, "a")]);
        let app = App::serve(options(&database).authorizer(Always(decision))).await;
        for query in [
            "{ notes { id } }",
            "{ note(id: 1) { id } }",
            "{ statistics { count } }",
        ] {
            assert_eq!(app.query(query).await.code(), code, "{query} {column}");
        }
    }
    assert_eq!(database.statements("FROM \"v_note\"").await, 0);
}

#[tokio::test]
async fn a_filter_on_an_already_scoped_column_is_a_conflict() {
    let database = database().await;
    let decision = AuthorizationDecision::allow_filtered([("tenant", "a"), ("title", "one")]);
    let app = App::serve(options(&database).authorizer(Always(decision))).await;
    for query in ["{ scoped { id } }", "{ scopedCount { id } }"] {
        let answer = app.query(query).await.json();
        assert_eq!(codes(&answer), ["FILTER_CONFLICT"], "{answer}");
        assert_eq!(
            answer["errors"][0]["extensions"]["columns"],
            json!(["tenant"]),
            "{answer}"
        );
    }
    let decision = AuthorizationDecision::allow_filtered([("title", "one")]);
    let app = App::serve(options(&database).authorizer(Always(decision))).await;
    assert_eq!(
        app.query("{ scoped { id } }").await.data(),
        json!({ "scoped": [{ "id": 1 }] })
    );
}

/// Whether PostgreSQL evaluates a pattern depends on its plan, which hidden rows change as well.
#[tokio::test]
async fn an_invalid_pattern_reveals_no_hidden_row() {
    let database = database().await;
    let decision = AuthorizationDecision::allow_filtered([("tenant", "a")]);
    let app = App::serve(options(&database).authorizer(Always(decision))).await;
    let ask = |title: &str| {
        format!(
            r#"{{ notes(where: {{ AND: [{{ title: {{ eq: "{title}" }} }}, {{ title: {{ matches: "[" }} }}] }}) {{ id }} }}"#
        )
    };
    let own = app.query(&ask("one")).await;
    assert_eq!(own.code(), "BAD_USER_INPUT", "{}", own.text);
    assert_eq!(
        app.query(&ask("two")).await.text,
        own.text,
        "a row of another tenant"
    );
    assert_eq!(app.query(&ask("none")).await.text, own.text, "no row");
}
