//! Rows and fields that the client may not see: a filter neither selects nor reveals them.

use serde_json::{Value, json};
use svc::authz::{Authorizer, OperationType};
use svc::db::SessionVariables;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

use super::{BEFORE, Item, SQL, ask, done, failure, options, stored};

/// Each user has a policy for the own rows.
async fn governed() -> (TestDatabase, App) {
    let database = TestDatabase::copy_of("many_rows", SQL).await;
    let options = options(&database).row_policy::<Item>(|ctx| {
        let user = ctx.header("x-user").unwrap_or_default().to_owned();
        Ok(RowDecision::allow_where(col("owner").eq(user)))
    });
    let app = App::serve(options).await;
    (database, app)
}

/// Each user has row-level security for the own rows.
async fn secured() -> (TestDatabase, App) {
    let own = "CREATE POLICY own ON app.tb_item USING (owner = current_setting('app.user', true));";
    secured_by(own).await
}

async fn secured_by(policies: &str) -> (TestDatabase, App) {
    let database = TestDatabase::copy_of("many_rows", SQL).await;
    let sql = "DO $$ BEGIN
            CREATE ROLE many_rows_app LOGIN;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
        ALTER TABLE app.tb_item ENABLE ROW LEVEL SECURITY;
        GRANT USAGE ON SCHEMA app TO many_rows_app;
        GRANT ALL ON app.tb_item, v_item TO many_rows_app;";
    database.execute(sql).await;
    database.execute(policies).await;
    let url = database
        .url()
        .replace("postgres://postgres@", "postgres://many_rows_app@");
    let options = options(&database)
        .database_url(url)
        .session_variables(SessionVariables::new().header("app.user", "x-user"));
    let app = App::serve(options).await;
    (database, app)
}

/// The answers and the rows are the same as if only the own rows existed.
async fn only_own_rows_match((database, app): (TestDatabase, App)) {
    for mutation in [
        r#"change(where: { owner: { eq: "bob" } }, input: { price: 5 }) { id }"#,
        "change(where: { id: { in: [2, 5] } }, input: { price: 5 }) { id }",
        "remove(where: { price: { gte: 50 } }) { id }",
        "removeFew(id: 2, where: {}) { id }",
    ] {
        let answer = ask(&app, "ada", mutation).await;
        assert_eq!(answer, json!({ "data": { "answer": [] } }), "{mutation}");
    }
    assert_eq!(stored(&database).await, BEFORE);

    // Three rows match, two of them are visible, and two are allowed.
    let few = r#"changeFew(where: { shelf: { eq: "a" } }, input: { price: 5 }) { id }"#;
    assert_eq!(done(&app, few).await, json!([{ "id": 1 }, { "id": 4 }]));
    let all = "change(where: {}, input: { price: 6 }) { id }";
    assert_eq!(
        done(&app, all).await,
        json!([{ "id": 1 }, { "id": 3 }, { "id": 4 }])
    );
    let gone = "remove(where: {}) { id price }";
    assert_eq!(
        ask(&app, "bob", gone).await,
        json!({ "data": { "answer": [{ "id": 2, "price": 20 }, { "id": 5, "price": 50 }] } })
    );
    assert_eq!(stored(&database).await, "1 ada a 6; 3 ada b 6; 4 ada a 6");
}

/// No row may become one that is not permitted.
async fn no_row_leaves((database, app): (TestDatabase, App)) {
    for mutation in [
        r#"change(where: {}, input: { owner: "bob" }) { id }"#,
        r#"changeFew(where: { shelf: { eq: "b" } }, input: { owner: "eve", price: 5 }) { id }"#,
    ] {
        let answer = ask(&app, "ada", mutation).await;
        assert_eq!(failure(&answer).0, "FORBIDDEN", "{mutation}: {answer}");
        assert_eq!(stored(&database).await, BEFORE, "{mutation}");
    }
}

/// A change that conflicts with a hidden row is denied like one without a conflict.
async fn conflicts_reveal_no_rows((database, app): (TestDatabase, App)) {
    let unique = "ALTER TABLE app.tb_item ADD UNIQUE (owner, shelf, price)";
    database.execute(unique).await;
    for selection in ["{ id: { eq: 1 } }", "{ id: { in: [1, 3] } }"] {
        // Bob has a row with the first price on one of the shelves.
        for price in [20, 21] {
            let input = format!(r#"{{ owner: "bob", price: {price} }}"#);
            let mutation = format!("change(where: {selection}, input: {input}) {{ id }}");
            let answer = ask(&app, "ada", &mutation).await;
            assert_eq!(
                failure(&answer),
                ("FORBIDDEN", "forbidden:"),
                "{mutation}: {answer}"
            );
            assert_eq!(
                answer["errors"][0]["message"],
                "the `Item` would become one that is not allowed"
            );
            assert_eq!(stored(&database).await, BEFORE, "{mutation}");
        }
    }

    // The client sees the other row.
    let own = "change(where: { id: { eq: 1 } }, input: { price: 40 }) { id }";
    let answer = ask(&app, "ada", own).await;
    assert_eq!(
        failure(&answer),
        ("CONFLICT", "conflict:exists"),
        "{answer}"
    );
    assert_eq!(stored(&database).await, BEFORE);
}

#[tokio::test]
async fn conflicts_with_rows_that_policies_hide_are_denied() {
    conflicts_reveal_no_rows(governed().await).await;
}

#[tokio::test]
async fn a_filter_selects_only_rows_that_policies_permit() {
    only_own_rows_match(governed().await).await;
}

#[tokio::test]
async fn a_filter_selects_only_rows_that_row_level_security_permits() {
    only_own_rows_match(secured().await).await;
}

#[tokio::test]
async fn an_update_out_of_the_policies_undoes_all_rows() {
    no_row_leaves(governed().await).await;
}

#[tokio::test]
async fn an_update_out_of_row_level_security_undoes_all_rows() {
    no_row_leaves(secured().await).await;
}

/// All or none of the selected rows are written: a row that the policies for `UPDATE` hide cannot be
/// locked.
#[tokio::test]
async fn rows_that_may_be_read_but_not_updated_undo_all() {
    let (database, app) = secured_by(
        "CREATE POLICY reads ON app.tb_item FOR SELECT USING (true);
         CREATE POLICY changes ON app.tb_item FOR UPDATE USING (owner = current_setting('app.user', true));",
    )
    .await;
    for mutation in [
        "change(where: {}, input: { price: 5 }) { id }",
        "change(where: {}, input: {}) { id }",
        r#"change(where: { owner: { eq: "bob" } }, input: { price: 5 }) { id }"#,
    ] {
        let answer = ask(&app, "ada", mutation).await;
        assert_eq!(
            failure(&answer),
            ("CONFLICT", "conflict:not_taken"),
            "{mutation}: {answer}"
        );
        assert_eq!(stored(&database).await, BEFORE, "{mutation}");
    }

    let own = r#"change(where: { owner: { eq: "ada" } }, input: { price: 5 }) { id }"#;
    assert_eq!(
        done(&app, own).await,
        json!([{ "id": 1 }, { "id": 3 }, { "id": 4 }])
    );
}

/// A delete locks its rows, as does a delete of one row.
#[tokio::test]
async fn rows_that_may_be_deleted_but_not_updated_undo_all() {
    let (database, app) = secured_by(
        "CREATE POLICY reads ON app.tb_item FOR SELECT USING (true);
         CREATE POLICY removes ON app.tb_item FOR DELETE USING (owner = current_setting('app.user', true));",
    )
    .await;
    let remove = r#"remove(where: { owner: { eq: "ada" } }) { id }"#;
    let answer = ask(&app, "ada", remove).await;
    assert_eq!(
        failure(&answer),
        ("CONFLICT", "conflict:not_taken"),
        "{answer}"
    );
    assert_eq!(stored(&database).await, BEFORE);

    // It permits the lock, but no change.
    let locks = "CREATE POLICY locks ON app.tb_item FOR UPDATE USING (true) WITH CHECK (false)";
    database.execute(locks).await;
    let answer = ask(&app, "ada", "remove(where: {}) { id }").await;
    assert_eq!(
        failure(&answer),
        ("CONFLICT", "conflict:not_taken"),
        "{answer}"
    );
    assert_eq!(
        done(&app, remove).await,
        json!([{ "id": 1 }, { "id": 3 }, { "id": 4 }])
    );
    assert_eq!(stored(&database).await, "2 bob a 20; 5 bob b 50");
}

/// A masked value is null to the filter, as in a list.
#[tokio::test]
async fn masked_values_select_no_rows() {
    let database = TestDatabase::copy_of("many_rows", SQL).await;
    let masked = |_: &Context<'_>| Ok(RowDecision::allow_where(col("owner").eq("ada")));
    let app = App::serve(options(&database).mask_where::<Item>("secret", masked)).await;
    let change = r#"change(where: { secret: { in: ["s1", "s2"] } }, input: { price: 5 }) { id }"#;
    assert_eq!(done(&app, change).await, json!([{ "id": 1 }]));
    for (secret, removed) in [("s5", json!([])), ("s3", json!([{ "id": 3 }]))] {
        let remove = format!("removeSecret(secret: \"{secret}\", where: {{}}) {{ id }}");
        assert_eq!(done(&app, &remove).await, removed, "{secret}");
    }
    assert_eq!(
        stored(&database).await,
        "1 ada a 5; 2 bob a 20; 4 ada a 40; 5 bob b 50"
    );
}

/// Denies the gated fields, and filters the rows of all operations by their owner.
struct Policy {
    is_filtering: bool,
}

impl Authorizer for Policy {
    async fn authorize_operation(
        &self,
        request: AuthorizationRequest,
    ) -> Result<AuthorizationDecision> {
        Ok(match request.operation_type() {
            OperationType::Field => AuthorizationDecision::deny(),
            _ if self.is_filtering => AuthorizationDecision::allow_filtered([("owner", "ada")]),
            _ => AuthorizationDecision::allow(),
        })
    }
}

async fn authorized(is_filtering: bool) -> (TestDatabase, App) {
    let database = TestDatabase::copy_of("many_rows", SQL).await;
    let app = App::serve(options(&database).authorizer(Policy { is_filtering })).await;
    (database, app)
}

#[tokio::test]
async fn a_filter_by_a_denied_field_is_denied() {
    let (database, app) = authorized(false).await;
    let codes = |answer: &Value| answer["errors"][0]["extensions"]["code"].clone();
    for mutation in [
        r#"change(where: { secret: { eq: "s1" } }, input: { price: 5 }) { id }"#,
        r#"change(where: { NOT: { secret: { eq: "x" } } }, input: { price: 5 }) { id }"#,
        "remove(where: { OR: [{ secret: { isnull: true } }] }) { id }",
        r#"removeSecret(secret: "s1", where: {}) { id }"#,
    ] {
        let answer = ask(&app, "ada", mutation).await;
        assert_eq!(codes(&answer), "FORBIDDEN", "{mutation}: {answer}");
    }
    assert_eq!(stored(&database).await, BEFORE);
}

#[tokio::test]
async fn conflicts_with_rows_outside_of_an_authorizers_filter_are_denied() {
    conflicts_reveal_no_rows(authorized(true).await).await;
}

/// The same for a reference to a missing row, which reveals whether there is one.
#[tokio::test]
async fn an_authorizers_filter_precedes_foreign_keys() {
    let (database, app) = authorized(true).await;
    let keys = "CREATE TABLE app.tb_owner (name text PRIMARY KEY);
        INSERT INTO app.tb_owner VALUES ('ada'), ('bob');
        ALTER TABLE app.tb_item ADD FOREIGN KEY (owner) REFERENCES app.tb_owner";
    database.execute(keys).await;
    for owner in ["bob", "eve"] {
        let mutation = format!(
            r#"change(where: {{ id: {{ eq: 1 }} }}, input: {{ owner: "{owner}" }}) {{ id }}"#
        );
        let answer = ask(&app, "ada", &mutation).await;
        assert_eq!(
            failure(&answer),
            ("FORBIDDEN", "forbidden:"),
            "{owner}: {answer}"
        );
    }
    assert_eq!(stored(&database).await, BEFORE);
}

#[tokio::test]
async fn an_authorizers_filter_restricts_the_selection() {
    let (database, app) = authorized(true).await;
    let change = r#"change(where: { owner: { eq: "bob" } }, input: { price: 5 }) { id }"#;
    assert_eq!(done(&app, change).await, json!([]));
    let change = "change(where: {}, input: { price: 5 }) { id }";
    assert_eq!(
        done(&app, change).await,
        json!([{ "id": 1 }, { "id": 3 }, { "id": 4 }])
    );
    let before = stored(&database).await;
    assert_eq!(
        before,
        "1 ada a 5; 2 bob a 20; 3 ada b 5; 4 ada a 5; 5 bob b 50"
    );

    let leave = r#"change(where: {}, input: { owner: "bob" }) { id }"#;
    let answer = ask(&app, "ada", leave).await;
    assert_eq!(failure(&answer).0, "FORBIDDEN", "{answer}");
    assert_eq!(stored(&database).await, before);
}
