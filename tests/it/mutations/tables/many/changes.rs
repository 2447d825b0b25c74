//! The selected rows are written, and returned in the order of their keys.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

use super::{BEFORE, SQL, clear, done, options, serve, stored};

#[tokio::test]
async fn an_update_writes_the_selected_rows() {
    let (database, app) = serve().await;
    let change = r#"change(where: { shelf: { eq: "a" } }, input: { price: 5 }) { id owner price }"#;
    assert_eq!(
        done(&app, change).await,
        json!([
            { "id": 1, "owner": "ada", "price": 5 },
            { "id": 2, "owner": "bob", "price": 5 },
            { "id": 4, "owner": "ada", "price": 5 },
        ])
    );
    assert_eq!(
        stored(&database).await,
        "1 ada a 5; 2 bob a 5; 3 ada b 30; 4 ada a 5; 5 bob b 50"
    );

    let all = "change(where: {}, input: { price: 6 }) { id }";
    assert_eq!(
        done(&app, all).await,
        json!([{ "id": 1 }, { "id": 2 }, { "id": 3 }, { "id": 4 }, { "id": 5 }])
    );
    assert_eq!(
        stored(&database).await,
        "1 ada a 6; 2 bob a 6; 3 ada b 6; 4 ada a 6; 5 bob b 6"
    );
}

#[tokio::test]
async fn a_delete_returns_the_rows_as_they_were() {
    let (database, app) = serve().await;
    let remove = r#"remove(where: { OR: [{ shelf: { eq: "b" } }, { price: { lt: 15 } }] }) { id shelf price }"#;
    assert_eq!(
        done(&app, remove).await,
        json!([
            { "id": 1, "shelf": "a", "price": 10 },
            { "id": 3, "shelf": "b", "price": 30 },
            { "id": 5, "shelf": "b", "price": 50 },
        ])
    );
    assert_eq!(stored(&database).await, "2 bob a 20; 4 ada a 40");
}

#[tokio::test]
async fn a_delete_returns_relations_as_they_are_after_it() {
    let database = TestDatabase::copy_of("many_rows", SQL).await;
    let app = App::serve(options(&database).mutations(mutations![clear])).await;
    let delete =
        "clear(where: { price: { gt: 45 } }) { id shelf same { id } beside(limit: 2) { id } }";
    assert_eq!(
        done(&app, delete).await,
        json!([{ "id": 5, "shelf": "b", "same": null, "beside": [{ "id": 3 }] }])
    );
}

#[tokio::test]
async fn an_empty_selection_is_an_empty_list() {
    let (database, app) = serve().await;
    for mutation in [
        r#"change(where: { shelf: { eq: "z" } }, input: { price: 5 }) { id }"#,
        r#"changeFew(where: { price: { in: [] } }, input: { price: 5 }) { id }"#,
        r#"remove(where: { shelf: { eq: "z" } }) { id }"#,
        "removeFew(id: 9, where: {}) { id }",
    ] {
        assert_eq!(done(&app, mutation).await, json!([]), "{mutation}");
    }
    assert_eq!(stored(&database).await, BEFORE);
}

#[tokio::test]
async fn an_update_without_values_returns_the_selected_rows() {
    let (database, app) = serve().await;
    let change = r#"change(where: { shelf: { eq: "b" } }, input: {}) { id price }"#;
    assert_eq!(
        done(&app, change).await,
        json!([{ "id": 3, "price": 30 }, { "id": 5, "price": 50 }])
    );
    assert_eq!(stored(&database).await, BEFORE);
}

#[tokio::test]
async fn fixed_arguments_narrow_the_filter() {
    let (database, app) = serve().await;
    let change =
        r#"changeOn(shelf: "a", where: { price: { gt: 15 } }, input: { price: 5 }) { id }"#;
    assert_eq!(done(&app, change).await, json!([{ "id": 2 }, { "id": 4 }]));
    assert_eq!(
        stored(&database).await,
        "1 ada a 10; 2 bob a 5; 3 ada b 30; 4 ada a 5; 5 bob b 50"
    );

    // Alone, the filter would select more rows than are allowed.
    let remove = r#"removeFew(id: 4, where: { owner: { eq: "ada" } }) { id }"#;
    assert_eq!(done(&app, remove).await, json!([{ "id": 4 }]));
    let remove = r#"removeFew(id: 1, where: { owner: { eq: "bob" } }) { id }"#;
    assert_eq!(done(&app, remove).await, json!([]));
    assert_eq!(
        stored(&database).await,
        "1 ada a 10; 2 bob a 5; 3 ada b 30; 5 bob b 50"
    );
}

#[tokio::test]
async fn a_list_omits_rows_that_the_view_no_longer_has() {
    let (database, app) = serve().await;
    let change = r#"change(where: { owner: { eq: "bob" } }, input: { gone: true }) { id }"#;
    assert_eq!(done(&app, change).await, json!([]));
    assert_eq!(
        stored(&database).await,
        "1 ada a 10; 2 bob a 20 t; 3 ada b 30; 4 ada a 40; 5 bob b 50 t"
    );
}

#[tokio::test]
async fn a_result_contains_the_list() {
    let (database, app) = serve().await;
    let selected = "... on ItemsSuccess { status updatedFields items { id price } } \
                    ... on ItemsError { status code message }";
    let answer = done(
        &app,
        &format!(
            r#"tryFew(where: {{ shelf: {{ eq: "b" }} }}, input: {{ price: 5 }}) {{ {selected} }}"#
        ),
    )
    .await;
    assert_eq!(
        answer,
        json!({
            "status": "updated",
            "updatedFields": ["price"],
            "items": [{ "id": 3, "price": 5 }, { "id": 5, "price": 5 }],
        })
    );

    let answer = done(
        &app,
        &format!("tryFew(where: {{}}, input: {{ price: 6 }}) {{ {selected} }}"),
    )
    .await;
    assert_eq!(
        answer,
        json!({
            "status": "validation:too_many_rows",
            "code": 422,
            "message": "the filter selects too many rows: at most 2 can be written at once",
        })
    );
    assert_eq!(
        stored(&database).await,
        "1 ada a 10; 2 bob a 20; 3 ada b 5; 4 ada a 40; 5 bob b 5"
    );
}

/// A conflict with another transaction is a failure of the result already while the filter is read.
#[tokio::test]
async fn a_result_contains_conflicts_of_the_filter() {
    let (database, app) = serve().await;
    let conflicting = "
        CREATE FUNCTION conflict() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
          RAISE EXCEPTION USING ERRCODE = 'serialization_failure'; END $$;
        CREATE OR REPLACE VIEW v_item WITH (security_invoker) AS
          SELECT pk_item AS id, owner, shelf, price, secret FROM app.tb_item WHERE NOT gone AND conflict();";
    database.execute(conflicting).await;
    let selected = "... on ItemsSuccess { status } ... on ItemsError { code status }";
    let change = r#"tryFew(where: { shelf: { eq: "b" } }, input: { price: 5 })"#;
    let answer = done(&app, &format!("{change} {{ {selected} }}")).await;
    assert_eq!(answer["code"], 409, "{answer}");
    assert_eq!(stored(&database).await, BEFORE);
}
