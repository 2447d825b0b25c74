//! Hints name the index that a filter or an order lacks, on the table behind the view, and go when
//! it is there.

use svc_tests::{App, TestDatabase};

use super::service::{development, explained, hints};

/// The one hint of a query is this statement; once that has run, there is none.
async fn assert_helped((database, app): (&TestDatabase, &App), query: &str, index: &str) {
    assert_eq!(hints(app, query).await, [index], "{query}");
    database.execute(index).await;
    assert_eq!(
        hints(app, query).await,
        [] as [&str; 0],
        "{query}: {}",
        explained(app, query).await
    );
}

#[tokio::test]
async fn filters_on_columns_get_an_index_hint() {
    let (database, app) = development().await;
    for (query, index) in [
        (
            r#"{ books(where: {title: {eq: "x"}}) { id } }"#,
            "CREATE INDEX ON public.tb_book (title)",
        ),
        (
            "{ books(where: {year: {gte: 1950, lt: 1960}}) { id } }",
            "CREATE INDEX ON public.tb_book (year)",
        ),
        (
            r#"{ books(where: {writer_name: {eq: "x"}}) { id } }"#,
            "CREATE INDEX ON public.tb_writer (name)",
        ),
        (
            r#"{ cards(where: {title: {eq: "x"}}) { id } }"#,
            r#"CREATE INDEX ON public.tv_card (((data -> 'title'::text) #>> '{}'::text[]))"#,
        ),
        (
            r#"{ parts(where: {kind: {eq: "x"}}) { id } }"#,
            "CREATE INDEX ON public.tb_part (kind)",
        ),
    ] {
        assert_helped((&database, &app), query, index).await;
    }
}

#[tokio::test]
async fn orders_get_an_index_hint_with_their_filters() {
    let (database, app) = development().await;
    let both = r#"{ books(where: {title: {eq: "x"}}, order_by: [{year: ASC}]) { id } }"#;
    assert_helped(
        (&database, &app),
        both,
        "CREATE INDEX ON public.tb_book (title, year, id)",
    )
    .await;
    let order = "{ books(order_by: [{year: DESC}]) { id } }";
    assert_helped(
        (&database, &app),
        order,
        "CREATE INDEX ON public.tb_book (year, id)",
    )
    .await;
}

#[tokio::test]
async fn relation_keys_get_an_index_hint() {
    let (database, app) = development().await;
    let query = "{ writers { books { title } } }";
    assert_helped(
        (&database, &app),
        query,
        "CREATE INDEX ON public.tb_book (writer_id)",
    )
    .await;
}

#[tokio::test]
async fn patterns_and_lists_get_a_gin_index_hint() {
    let (database, app) = development().await;
    let pattern = r#"{ books(where: {title: {icontains: "x"}}) { id } }"#;
    let entry = explained(&app, pattern).await;
    let hint = &entry["hints"][0];
    assert_eq!(
        hint["sql"], "CREATE INDEX ON public.tb_book USING gin (title gin_trgm_ops)",
        "{entry}"
    );
    assert!(
        hint["message"].as_str().unwrap().contains("pg_trgm"),
        "{hint}"
    );
    let tags = r#"{ books(where: {tags: {contains: ["x"]}}) { id } }"#;
    assert_helped(
        (&database, &app),
        tags,
        "CREATE INDEX ON public.tb_book USING gin (tags)",
    )
    .await;
}

#[tokio::test]
async fn queries_that_need_no_further_index_get_no_hint() {
    let (database, app) = development().await;
    database
        .execute("CREATE INDEX ON tb_book (year) WHERE NOT gone")
        .await;
    for query in [
        "{ books { title } }",
        "{ books(limit: 5, order_by: [{id: DESC}]) { title } }",
        "{ book(id: 7) { title writer { name } } }",
        "{ book_totals { count } }",
        "{ books(where: {year: {eq: 1950}}) { id } }",
        r#"{ books(where: {year: {eq: 1950}, title: {eq: "x"}}) { id } }"#,
    ] {
        assert_eq!(
            hints(&app, query).await,
            [] as [&str; 0],
            "{query}: {}",
            explained(&app, query).await
        );
    }
}

#[tokio::test]
async fn a_partial_index_of_other_rows_does_not_suppress_a_hint() {
    let (database, app) = development().await;
    database
        .execute("CREATE INDEX ON tb_book (title) WHERE year > 2000")
        .await;
    let query = r#"{ books(where: {title: {eq: "x"}}) { id } }"#;
    assert_helped(
        (&database, &app),
        query,
        "CREATE INDEX ON public.tb_book (title)",
    )
    .await;
}
