//! Rows before a page cost no more than to be passed: nothing of what is selected is read of them.

use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_author")]
struct Author {
    id: i32,
    #[relation(to = "author_id")]
    books: Many<Book>,
}

#[svc_type(sql_source = "v_book")]
struct Book {
    id: i32,
    number: i32,
    #[relation(to = "book_id")]
    pages: Many<Page>,
}

#[svc_type(sql_source = "v_page")]
struct Page {
    id: i32,
    number: i32,
}

#[svc::query]
async fn authors() -> Vec<Author>;

const SQL: &str = "
CREATE SEQUENCE book_reads; CREATE SEQUENCE page_reads;
CREATE VIEW v_author AS SELECT id, 'a' || id AS name FROM generate_series(1, 50) AS id;
CREATE VIEW v_book AS
SELECT id * 10 + n AS id, id AS author_id, nextval('book_reads')::int AS number
FROM generate_series(1, 50) AS id, generate_series(1, 3) AS n;
CREATE VIEW v_page AS
SELECT n AS id, b * 10 + c AS book_id, nextval('page_reads')::int AS number
FROM generate_series(1, 50) AS b, generate_series(1, 3) AS c, generate_series(1, 4) AS n;";

#[tokio::test]
async fn nothing_is_read_of_rows_before_a_page() {
    let database = TestDatabase::new(SQL).await;
    let pool = database.pool().await;
    let app = App::serve(
        AppOptions::new()
            .database_url(database.url())
            .queries(queries![authors]),
    )
    .await;
    for which in ["order_by: [{id: ASC}]", "where: {id: {gt: 2}}"] {
        database
            .execute("ALTER SEQUENCE book_reads RESTART; ALTER SEQUENCE page_reads RESTART")
            .await;
        let books = "books(order_by: [{id: ASC}], limit: 1, offset: 2) { number pages(limit: 1) { number } }";
        let data = app
            .query(&format!(
                "{{ authors({which}, limit: 1, offset: 20) {{ id {books} }} }}"
            ))
            .await
            .data();
        let book = &data["authors"][0]["books"][0];
        assert!(book["pages"][0]["number"].is_number(), "{data}");
        // The books of one author, and the pages of one book.
        let read = "SELECT b.last_value, p.last_value FROM book_reads AS b, page_reads AS p";
        let read: (i64, i64) = sqlx::query_as(read).fetch_one(&pool).await.unwrap();
        assert_eq!(read, (3, 4), "{which}: {data}");
    }
}
