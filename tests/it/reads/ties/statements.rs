//! Which statements reach PostgreSQL.

use serde_json::json;
use svc_tests::{App, TestDatabase};

use super::{ids, serve, unseen};

const FREE: &str = "ORDER BY t.\"rank\" LIMIT";
const EXACT: &str = "ORDER BY t.\"rank\", t.\"id\" LIMIT";
const ROWS: &str =
    "INSERT INTO tb_thing (id, name, rank, data) SELECT i, 'name ' || i, i, jsonb_build_object('inner', i)
                    FROM generate_series(1, 30) i;";

async fn run(database: &TestDatabase) -> (i64, i64) {
    (
        database.statements(FREE).await,
        database.statements(EXACT).await,
    )
}

async fn page_ids(app: &App, document: &str, limit: usize, offset: usize) -> Vec<i64> {
    ids(&app
        .query_with(document, json!({ "limit": limit, "offset": offset }))
        .await
        .data()["things"])
}

const DOCUMENT: &str = "($limit: Int, $offset: Int) { things(order_by: [{rank: ASC}], limit: $limit, offset: $offset) { id name } }";

/// A document that comes once is read with the `id`; from its second request on it goes without.
#[tokio::test]
async fn without_ties_the_id_is_not_read() {
    let (database, app) = serve(ROWS).await;
    let document = unseen(DOCUMENT);
    for (offset, expected) in [
        (0, (0, 1)),
        (0, (1, 1)),
        (5, (1, 2)),
        (5, (2, 2)),
        (1, (3, 2)),
        (27, (4, 2)),
    ] {
        let found = page_ids(&app, &document, 3, offset).await;
        assert_eq!(
            found,
            (offset as i64 + 1..=offset as i64 + 3).collect::<Vec<_>>()
        );
        // Pages of other sizes have statements of their own.
        let expected = if offset == 27 { (3, 3) } else { expected };
        assert_eq!(run(&database).await, expected, "{offset}");
    }
}

#[tokio::test]
async fn after_ties_a_request_runs_one_statement() {
    let (database, app) = serve(ROWS).await;
    database
        .execute("UPDATE tb_thing SET rank = 6 WHERE id BETWEEN 6 AND 8")
        .await;
    let document = unseen(DOCUMENT);
    // The first request, one without ties, one with a tie beyond the page, and those that come
    // after it.
    for (limit, expected) in [
        (3, (0, 1)),
        (3, (1, 1)),
        (3, (2, 2)),
        (3, (2, 3)),
        (3, (2, 4)),
    ] {
        let offset = if expected.0 < 2 { 1 } else { 3 };
        let found = page_ids(&app, &document, limit, offset).await;
        assert_eq!(
            found,
            (offset as i64 + 1..=offset as i64 + 3).collect::<Vec<_>>()
        );
        assert_eq!(run(&database).await, expected);
    }
    // Another document finds out by itself.
    let document = unseen(DOCUMENT);
    for expected in [(2, 5), (3, 6), (3, 7)] {
        assert_eq!(page_ids(&app, &document, 4, 4).await, [5, 6, 7, 8]);
        assert_eq!(run(&database).await, expected);
    }
}

/// The rows next to a page are read and not answered, and the column that tells rows apart need not
/// be selected.
#[tokio::test]
async fn only_the_column_of_the_order_is_read_besides() {
    let (database, app) = serve(ROWS).await;
    let document = unseen("{ things(order_by: [{rank: ASC}], limit: 2, offset: 3) { name } }");
    for _ in 0..3 {
        assert_eq!(
            app.query(&document).await.data(),
            json!({ "things": [{ "name": "name 4" }, { "name": "name 5" }] })
        );
    }
    let text = "SELECT * FROM (SELECT t.\"name\", t.\"rank\" FROM \"v_thing\" AS t ORDER BY t.\"rank\" LIMIT";
    assert_eq!(database.statements(text).await, 2);
    let document =
        unseen("{ things(order_by: [{rank: ASC}], limit: 2) { id rank name again: rank } }");
    for _ in 0..2 {
        app.query(&document).await.data();
    }
    let text = "SELECT * FROM (SELECT t.\"id\", t.\"rank\", t.\"name\" FROM \"v_thing\" AS t ORDER BY t.\"rank\" LIMIT";
    assert_eq!(database.statements(text).await, 1);
}

/// One row, and conditions whose values PostgreSQL plans again, too.
#[tokio::test]
async fn first_rows_and_filtered_pages_do_without_the_id() {
    let (database, app) = serve(ROWS).await;
    for (arguments, expected, part) in [
        ("limit: 1", vec![1], "ORDER BY t.\"rank\" LIMIT $1"),
        (
            "where: {name: {contains: \"2\"}}, limit: 2, offset: 1",
            vec![12, 20],
            "ORDER BY t.\"rank\" LIMIT $2 OFFSET $3",
        ),
        (
            "where: {name: {in: [\"name 8\", \"name 9\"]}}, limit: 5",
            vec![8, 9],
            "[])))) ORDER BY t.\"rank\" LIMIT",
        ),
    ] {
        let document = unseen(&format!(
            "{{ things(order_by: [{{rank: ASC}}], {arguments}) {{ id }} }}"
        ));
        let before = database.statements(part).await;
        for _ in 0..3 {
            assert_eq!(
                ids(&app.query(&document).await.data()["things"]),
                expected,
                "{arguments}"
            );
        }
        assert_eq!(
            database.statements(part).await - before,
            2,
            "{arguments}: {:?}",
            database.texts("v_thing").await
        );
    }
}

/// Orders that PostgreSQL cannot take from an index of their columns, or that name the `id`
/// themselves, have one form.
#[tokio::test]
async fn other_orders_keep_the_id() {
    let (database, app) = serve(ROWS).await;
    for order in [
        "{inner: ASC}",
        "{flag: ASC}",
        "{size: ASC}",
        "{id: DESC}",
        "{rank: ASC, id: ASC}",
        "{rank: ASC, inner: ASC}",
    ] {
        let before = database.statements("FROM \"v_thing\"").await;
        let document = unseen(&format!(
            "{{ things(order_by: [{order}], limit: 3) {{ id }} }}"
        ));
        for _ in 0..3 {
            app.query(&document).await.data();
        }
        assert_eq!(
            database.statements("FROM \"v_thing\"").await - before,
            3,
            "{order}"
        );
    }
    let texts = database.texts("v_thing").await;
    assert!(
        !texts.is_empty()
            && texts
                .iter()
                .all(|text| text.contains("t.\"id\"") || text.contains("t.id")),
        "{texts:?}"
    );
    assert!(
        texts
            .iter()
            .all(|text| text[text.find("ORDER BY").unwrap()..].contains("\"id\"")),
        "{texts:?}"
    );
}
