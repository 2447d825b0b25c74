//! Ties inside a page, at its edges, and between it and its neighbours.

use std::time::Duration;

use serde_json::{Value, json};
use svc::sqlx;
use svc_tests::without_error_ids;

use super::{ids, ids_of, pages_from, serve, unseen, window};

/// All pages of all sizes under an order have these ids.
async fn all_pages(app: &svc_tests::App, order: &str, all: &[i64]) {
    for limit in 0..=all.len() + 1 {
        for (offset, found) in pages_from(app, order, limit, 0..=all.len() + 2).await {
            assert_eq!(
                found,
                window(all, limit, offset),
                "{order}: {limit} from {offset}"
            );
        }
    }
}

/// The same for documents that read one page each.
async fn each_page(app: &svc_tests::App, order: &str, all: &[i64]) {
    for limit in 0..=all.len() + 1 {
        for offset in 0..=all.len() + 2 {
            let found = pages_from(app, order, limit, [offset]).await;
            assert_eq!(
                found,
                [(offset, window(all, limit, offset))],
                "{order}: {limit} from {offset}, alone"
            );
        }
    }
}

#[tokio::test]
async fn pages_with_ties_neither_overlap_nor_lose_rows() {
    // The ids are the other way round than the rows come in.
    let (_database, app) = serve(
        "INSERT INTO tb_thing (id, name, rank) VALUES (9, 'a', 1), (8, 'a', 2), (7, 'b', NULL), (6, 'b', 1), (5, 'b', NULL),
         (4, 'c', 3), (3, NULL, 3), (2, NULL, 4), (1, 'd', 5)",
    )
    .await;
    for (order, all) in [
        ("{name: ASC}", [8, 9, 5, 6, 7, 4, 1, 2, 3]),
        ("{name: DESC}", [3, 2, 1, 4, 7, 6, 5, 9, 8]),
        ("{name: ASC_NULLS_FIRST}", [2, 3, 8, 9, 5, 6, 7, 4, 1]),
        ("{name: DESC_NULLS_LAST}", [1, 4, 7, 6, 5, 9, 8, 3, 2]),
        ("{rank: ASC}", [6, 9, 8, 3, 4, 2, 1, 5, 7]),
        ("{name: ASC}, {rank: DESC}", [8, 9, 7, 5, 6, 4, 1, 2, 3]),
        ("{name: ASC, rank: ASC}", [9, 8, 6, 5, 7, 4, 1, 3, 2]),
    ] {
        all_pages(&app, order, &all).await;
    }
    each_page(&app, "{name: ASC}", &[8, 9, 5, 6, 7, 4, 1, 2, 3]).await;
}

/// A value and the lack of one, the empty text, values that run into each other, and values of
/// every length.
#[tokio::test]
async fn similar_values_are_distinguished() {
    let (_database, app) = serve(
        "INSERT INTO tb_thing (id, name, code, rank) VALUES (1, '', NULL, 1), (2, NULL, NULL, 1), (3, 'a', NULL, 10),
         (4, 'aa', '61000000-0000-0000-0000-000000000000', 10), (5, 'ab', '62000000-0000-0000-0000-000000000000', 256),
         (6, 'ä', '63000000-0000-0000-0000-000000000000', 65536)",
    )
    .await;
    all_pages(&app, "{name: ASC}", &[1, 3, 4, 5, 6, 2]).await;
    all_pages(
        &app,
        "{name: ASC_NULLS_FIRST, code: DESC}",
        &[2, 1, 3, 4, 5, 6],
    )
    .await;
    all_pages(&app, "{code: ASC, rank: DESC}", &[4, 5, 6, 3, 2, 1]).await;
    all_pages(&app, "{rank: ASC, name: ASC}", &[1, 2, 3, 4, 5, 6]).await;
}

/// Values that are equal and yet have different bytes: numbers with more zeros, two zeros, other
/// cases of letters.
#[tokio::test]
async fn equal_values_with_different_bytes_are_ordered_by_id() {
    let (database, app) = serve(
        "INSERT INTO tb_thing (id, price, ratio, folded) VALUES (6, 1.0, 0.0, 'b'), (5, 1.00, '-0.0', 'B'), (4, 1, 0.0, 'A'),
         (3, 2.0, 1, 'a'), (2, 2.000, 2, 'A'), (1, 1.000, '-0.0', 'c')",
    )
    .await;
    all_pages(&app, "{price: ASC}", &[1, 4, 5, 6, 2, 3]).await;
    all_pages(&app, "{ratio: ASC}", &[1, 4, 5, 6, 3, 2]).await;
    all_pages(&app, "{folded: ASC}", &[2, 3, 4, 5, 6, 1]).await;
    for column in ["price", "ratio", "folded"] {
        assert_eq!(
            database
                .statements(&format!("ORDER BY t.\"{column}\" LIMIT"))
                .await,
            0,
            "{column}"
        );
    }
}

/// Keys that are equal with different bytes are beside one whose bytes decide.
#[tokio::test]
async fn one_distinguishing_key_of_several_is_enough() {
    let (database, app) = serve(
        "INSERT INTO tb_thing (id, flag, price, size, rank) VALUES (6, false, 1.0, 'SMALL', 1), (5, true, 1.00, 'SMALL', 1),
         (4, false, 1.000, 'LARGE', 2), (3, false, 1.00, 'SMALL', 4), (2, true, 2, NULL, 5), (1, false, 1, 'SMALL', 6)",
    )
    .await;
    all_pages(&app, "{flag: ASC, rank: ASC}", &[6, 4, 3, 1, 5, 2]).await;
    all_pages(&app, "{price: ASC, rank: DESC}", &[1, 3, 4, 6, 5, 2]).await;
    all_pages(&app, "{size: DESC, rank: ASC}", &[2, 5, 6, 3, 1, 4]).await;
    for order in [
        "\"flag\", t.\"rank\"",
        "\"price\", t.\"rank\" DESC",
        "\"size\" DESC, t.\"rank\"",
    ] {
        assert!(
            database
                .statements(&format!("ORDER BY t.{order} LIMIT"))
                .await
                > 0,
            "{order}"
        );
    }
}

/// With the values as variables one statement serves all pages, before and after ties are found.
#[tokio::test]
async fn one_document_reads_all_pages() {
    let (_database, app) = serve(
        "INSERT INTO tb_thing (id, name, rank) SELECT i, 'name ' || i / 2 * 2, 100 - i FROM generate_series(1, 40) i;
         UPDATE tb_thing SET name = 'only ' || id WHERE id <= 20",
    )
    .await;
    for (field, order) in [
        ("things", "{name: DESC}"),
        ("things", "{rank: DESC}"),
        ("some_things", "{name: DESC}"),
    ] {
        let document = unseen(&format!(
            "($limit: Int, $offset: Int) {{ things: {field}(order_by: [{order}], limit: $limit, offset: $offset) {{ id name }} }}"
        ));
        let ask = async |limit: usize, offset: usize| {
            ids(&app
                .query_with(&document, json!({ "limit": limit, "offset": offset }))
                .await
                .data()["things"])
        };
        let all = ask(40, 0).await;
        assert_eq!(all.len(), 40);
        // From the end, where no two names are the same, to the start, where they are.
        for limit in [1, 3, 7, 8, 31] {
            for offset in (0..=42).rev() {
                assert_eq!(
                    ask(limit, offset).await,
                    window(&all, limit, offset),
                    "{field}: {limit} from {offset}"
                );
            }
        }
    }
}

/// A failure in rows that were read in vain is not reported, and one in the answer is reported
/// once.
#[tokio::test]
async fn errors_are_reported_once() {
    let (database, app) = serve(
        "INSERT INTO tb_thing (id, rank, must, small) VALUES (3, 1, 0, 1), (2, 2, 0, 5000000000), (1, 3, 0, 2), (4, 3, 0, 3),
         (5, 3, NULL, 4)",
    )
    .await;
    for (limit, must, expected) in [
        // No tie, a tie at the end, and a tie inside the page.
        (1, false, json!({ "things": [{ "small": 1 }] })),
        (
            3,
            false,
            json!({ "things": [{ "small": 1 }, { "small": null }, { "small": 2 }] }),
        ),
        (
            4,
            false,
            json!({ "things": [{ "small": 1 }, { "small": null }, { "small": 2 }, { "small": 3 }] }),
        ),
        // The row in which null is an error stands next to the page, and then on it.
        (
            4,
            true,
            json!({ "things": [{ "must": 0 }, { "must": 0 }, { "must": 0 }, { "must": 0 }] }),
        ),
        (5, true, json!(null)),
    ] {
        let selection = if must { "must" } else { "small" };
        let document = unseen(&format!(
            "{{ things(order_by: [{{rank: ASC}}], limit: {limit}) {{ {selection} }} }}"
        ));
        let ask = async || -> Value {
            let reply = app.query(&document).await;
            serde_json::from_str(&without_error_ids(&reply.text)).unwrap()
        };
        let first = ask().await;
        assert_eq!(first["data"], expected, "{first}");
        let errors = first["errors"].as_array().map_or(0, Vec::len);
        assert_eq!(
            errors,
            usize::from(if must { limit == 5 } else { limit > 1 }),
            "{first}"
        );
        for _ in 0..2 {
            assert_eq!(ask().await, first);
        }
    }
    assert!(database.statements("ORDER BY t.\"rank\" LIMIT").await > 0);
}

/// A read whose connection dies among the rows is not sent again, as it may be what has ended it.
/// The view has the order that is asked for, so that rows are on their way before all are computed.
#[tokio::test]
async fn a_connection_lost_among_the_rows_returns_none_of_them() {
    // With the row before the page, and late on the page.
    for fatal in [5, 350] {
        let (database, app) = serve(&format!(
            "CREATE SEQUENCE attempts;
             CREATE OR REPLACE VIEW v_thing AS SELECT i AS id, CASE WHEN i = {fatal} AND nextval('attempts') = 2
               THEN pg_terminate_backend(pg_backend_pid())::text ELSE repeat('x', 2000) END COLLATE \"C\" AS name,
               NULL::uuid AS code, i AS rank, NULL::numeric AS price, NULL::float8 AS ratio, NULL::timestamptz AS at,
               false AS flag, NULL::text AS size, NULL::text COLLATE caseless AS folded, 0 AS must, NULL::int8 AS small,
               '{{}}'::jsonb AS data
             FROM generate_series(1, 400) AS i ORDER BY i"
        ))
        .await;
        let document =
            unseen("{ things(order_by: [{rank: ASC}], limit: 390, offset: 5) { id name } }");
        let name = "x".repeat(2_000);
        let expected: Vec<_> = (6..=395)
            .map(|id| json!({ "id": id, "name": name }))
            .collect();
        for attempt in 1..=3 {
            let reply = app.query(&document).await;
            if attempt == 2 {
                assert_eq!(reply.code(), "SERVICE_UNAVAILABLE", "{}", reply.text);
            } else {
                assert!(
                    reply.data()["things"] == json!(expected),
                    "the rows differ from those of the view"
                );
            }
        }
        let attempts: i64 = database.value("SELECT last_value FROM attempts").await;
        assert_eq!(attempts, 3, "each request once");
    }
}

/// Rows change between the two reads of a page with ties. Each answer is one that some order of the
/// rows has.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_read_by_two_statements_is_consistent() {
    let (database, app) =
        serve("INSERT INTO tb_thing (id, rank) SELECT i, i / 2 FROM generate_series(1, 20) AS i")
            .await;
    let pool = database.pool().await;
    let writer = tokio::spawn(async move {
        loop {
            for rank in ["id / 2", "100 - id", "id"] {
                let update = format!("UPDATE tb_thing SET rank = {rank}");
                sqlx::query(sqlx::AssertSqlSafe(update))
                    .execute(&pool)
                    .await
                    .unwrap();
            }
            tokio::time::sleep(Duration::from_micros(100)).await;
        }
    });
    let (up, down) = (
        (1..=20).collect::<Vec<i64>>(),
        (1..=20).rev().collect::<Vec<i64>>(),
    );
    for _ in 0..200 {
        let document = unseen("{ things(order_by: [{rank: ASC}], limit: 20, offset: 5) { id } }");
        for _ in 0..2 {
            let found = app.query(&document).await.data()["things"].clone();
            assert!(
                [&up, &down].iter().any(|all| found == ids_of(&all[5..])),
                "{found}"
            );
        }
    }
    writer.abort();
}
