//! Selections and values that are refused as a whole.

use svc::prelude::*;
use svc::{Limits, create_svc_app};
use svc_tests::{App, Log, TestDatabase};

use super::{
    BEFORE, Item, SQL, ask, done, failure, items, options, remove, remove_few, serve, stored,
};

#[tokio::test]
async fn more_rows_than_allowed_are_not_written() {
    let (database, app) = serve().await;
    for mutation in [
        r#"changeFew(where: { shelf: { eq: "a" } }, input: { price: 5 }) { id }"#,
        "changeFew(where: {}, input: { price: 5 }) { id }",
        "changeFew(where: {}, input: {}) { id }",
    ] {
        let answer = ask(&app, "ada", mutation).await;
        assert_eq!(
            failure(&answer),
            ("BAD_USER_INPUT", "validation:too_many_rows"),
            "{mutation}"
        );
        // The message does not contain the number of rows that match.
        assert_eq!(
            answer["errors"][0]["message"],
            "the filter selects too many rows: at most 2 can be written at once"
        );
    }
    assert_eq!(stored(&database).await, BEFORE);

    done(
        &app,
        r#"changeFew(where: { shelf: { eq: "b" } }, input: { price: 5 }) { id }"#,
    )
    .await;
}

#[tokio::test]
async fn the_maximum_page_size_bounds_all_selections() {
    let database = TestDatabase::copy_of("many_rows", SQL).await;
    let limits = Limits {
        max_page: 1,
        default_page: 1,
        ..Limits::default()
    };
    let app = App::serve(options(&database).limits(limits)).await;
    for mutation in [
        r#"changeFew(where: { shelf: { eq: "b" } }, input: { price: 5 }) { id }"#,
        r#"change(where: { shelf: { eq: "b" } }, input: { price: 5 }) { id }"#,
        r#"remove(where: { shelf: { eq: "b" } }) { id }"#,
    ] {
        let answer = ask(&app, "ada", mutation).await;
        assert_eq!(
            failure(&answer).1,
            "validation:too_many_rows",
            "{mutation}: {answer}"
        );
    }
    assert_eq!(stored(&database).await, BEFORE);
    done(&app, "remove(where: { id: { eq: 3 } }) { id }").await;
}

#[tokio::test]
async fn a_mutation_costs_as_much_as_a_list_of_its_maximum() {
    let database = TestDatabase::copy_of("many_rows", SQL).await;
    let limits = Limits {
        complexity: 100,
        ..Limits::default()
    };
    let app = App::serve(options(&database).limits(limits)).await;
    let few = "changeFew(where: { id: { eq: 9 } }, input: { price: 5 }) { id owner }";
    done(&app, few).await;
    let many = "change(where: { id: { eq: 9 } }, input: { price: 5 }) { id owner }";
    let answer = ask(&app, "ada", many).await;
    assert_eq!(
        answer["errors"][0]["extensions"]["code"], "QUERY_TOO_COMPLEX",
        "{answer}"
    );

    // The writes count by themselves.
    let many = "change(where: { id: { eq: 9 } }, input: { price: 5 }) { __typename }";
    let answer = ask(&app, "ada", many).await;
    assert_eq!(
        answer["errors"][0]["extensions"]["code"], "QUERY_TOO_COMPLEX",
        "{answer}"
    );
}

#[tokio::test]
async fn the_cost_of_a_mutation_includes_the_rows_it_may_write() {
    let database = TestDatabase::copy_of("many_rows", SQL).await;
    let limits = Limits {
        show_cost: true,
        ..Limits::default()
    };
    let app = App::serve(options(&database).limits(limits)).await;
    for (selected, cost) in [
        // One comparison, two rows and the list itself.
        (
            "changeFew(where: { id: { eq: 9 } }, input: { price: 5 }) { __typename }",
            4,
        ),
        (
            "changeFew(where: { id: { eq: 9 } }, input: { price: 5 }) { id owner }",
            8,
        ),
    ] {
        let answer = ask(&app, "ada", selected).await;
        assert_eq!(
            answer["extensions"]["cost"]["complexity"]["cost"], cost,
            "{selected}: {answer}"
        );
    }
}

#[tokio::test]
async fn a_filter_must_be_given_and_state_its_conditions() {
    let (database, app) = serve().await;
    for (mutation, code) in [
        (
            "change(input: { price: 5 }) { id }",
            "GRAPHQL_VALIDATION_FAILED",
        ),
        (
            "change(where: null, input: { price: 5 }) { id }",
            "GRAPHQL_VALIDATION_FAILED",
        ),
        (
            "change(where: { shelf: null }, input: { price: 5 }) { id }",
            "BAD_USER_INPUT",
        ),
        ("remove { id }", "GRAPHQL_VALIDATION_FAILED"),
    ] {
        let answer = ask(&app, "ada", mutation).await;
        assert_eq!(
            answer["errors"][0]["extensions"]["code"], code,
            "{mutation}: {answer}"
        );
    }
    assert_eq!(stored(&database).await, BEFORE);
}

#[tokio::test]
async fn a_violated_constraint_undoes_all_rows() {
    let (database, app) = serve().await;
    let change =
        r#"change(where: { shelf: { eq: "a" } }, input: { shelf: "c", price: 5000 }) { id }"#;
    let answer = ask(&app, "ada", change).await;
    assert_eq!(
        failure(&answer),
        ("BAD_USER_INPUT", "validation:not_allowed"),
        "{answer}"
    );
    assert_eq!(stored(&database).await, BEFORE);
}

#[tokio::test]
async fn bounds_above_the_maximum_page_size_are_logged() {
    let started = async |max_page| {
        let log = Log::start();
        let limits = Limits {
            max_page,
            default_page: max_page,
            ..Limits::default()
        };
        let options = AppOptions::new()
            .database_url("postgres://nobody@127.0.0.1:1/nothing")
            .auto_camel_case(true)
            .queries(queries![items])
            .mutations(mutations![remove_few, remove])
            .limits(limits);
        drop(create_svc_app(options).await.unwrap());
        log.text()
    };

    let log = started(1).await;
    let lines: Vec<_> = log
        .lines()
        .filter(|line| line.contains("max_rows"))
        .collect();
    assert_eq!(lines.len(), 1, "{log}");
    for part in ["SVC_LIMIT_MAX_PAGE is smaller", "removeFew", "max_page=1"] {
        assert!(lines[0].contains(part), "no {part} in {}", lines[0]);
    }

    let log = started(2).await;
    assert!(!log.contains("has no effect"), "{log}");
    let log = started(0).await;
    assert_eq!(log.matches("cannot write any rows").count(), 2, "{log}");
}

#[svc_input]
struct Keyed {
    pk_item: i32,
}

#[svc_input]
struct Nested {
    #[svc(rows = "app.tb_item", column = "shelf", of = Item)]
    others: Option<Vec<Keyed>>,
}

#[svc_result]
enum OneResult {
    Success { item: Item },
    Error,
}

#[svc::mutation(update = "app.tb_item", key = "pk_item", by = filter)]
async fn change_keys(input: Keyed) -> Vec<Item>;
#[svc::mutation(update = "app.tb_item", key = "pk_item", by = filter)]
async fn change_others(input: Nested) -> Vec<Item>;
#[svc::mutation(delete = "app.tb_item", key = "pk_item", by = filter)]
async fn remove_with(input: Keyed) -> Vec<Item>;
#[svc::mutation(delete = "app.tb_item", key = "pk_item", by = filter)]
async fn remove_one() -> OneResult;
#[svc::mutation(delete = "app.tb_item", key = "pk_item", by = filter)]
async fn remove_optional(shelf: Option<String>) -> Vec<Item>;
#[svc::mutation(delete = "app.tb_item", key = "pk_item", by = filter)]
async fn remove_gone(gone: bool) -> Vec<Item>;
#[svc::mutation(delete = "app.tb_item", key = "pk_item", by = filter)]
async fn remove_named(#[svc(name = "where")] shelf: String) -> Vec<Item>;

#[tokio::test]
async fn mutations_that_no_filter_fits_stop_the_start() {
    for (mutations, why) in [
        (mutations![change_keys], "Keyed::pk_item` is the key"),
        (
            mutations![change_others],
            "Nested::others` writes rows of another table",
        ),
        (mutations![remove_with], "a delete takes no input object"),
        (mutations![remove_one], "answer with a list"),
        (
            mutations![remove_optional],
            "`shelf` chooses the row, so it is a value that has to be given",
        ),
        (mutations![remove_gone], "matches no stored field of"),
        (
            mutations![remove_named],
            "`where` is the filter of the client",
        ),
    ] {
        let options = AppOptions::new()
            .database_url("postgres://nobody@localhost/none")
            .queries(queries![items])
            .mutations(mutations);
        let error = create_svc_app(options).await.unwrap_err().to_string();
        assert!(error.contains(why), "no {why} in {error}");
    }
}
