//! Rows come in the order that the program names, behind the client's, over the three kinds of
//! views.

use serde_json::json;
use svc::db::{OrderBy, desc};
use svc::prelude::*;
use svc_tests::{Kinds, TestDatabase, three_views};

/// The same types over views of one kind.
macro_rules! shelf {
    ($kind:ident, $shelf:literal, $book:literal, $row:literal) => {
        mod $kind {
            use super::*;

            #[svc_type(name = $shelf, sql_source = $shelf)]
            pub(super) struct Shelf {
                pub(super) id: i32,
                pub(super) room: String,
                #[relation(to = "shelf_id", order_by = "place")]
                pub(super) books: Many<Book>,
                #[relation(to = "shelf_id", order_by = "-year, title")]
                pub(super) latest: Many<Book>,
            }

            #[svc_type(name = $book, sql_source = $book)]
            pub(super) struct Book {
                pub(super) id: i32,
                pub(super) title: String,
                pub(super) year: Option<i32>,
                pub(super) place: i32,
                #[relation]
                pub(super) shelf: One<Shelf>,
            }

            #[svc_type]
            impl Book {
                fn shout(&self) -> String {
                    self.title.to_uppercase()
                }
            }

            #[svc::query]
            pub(super) async fn shelves() -> Vec<Shelf>;
            #[svc::query(order_by = "-year, title")]
            pub(super) async fn books() -> Vec<Book>;
            #[svc::query(order_by = "shelf.room, -place")]
            pub(super) async fn roomy() -> Vec<Book>;
            #[svc::query(order_by = "-year, title")]
            pub(super) async fn pages() -> Connection<Book>;
            #[svc::query(order_by = "-place")]
            pub(super) async fn last(shelf_id: i32) -> Option<Row>;

            /// A row with the key of its shelf.
            #[svc_type(name = $row, sql_source = $book)]
            pub(super) struct Row {
                pub(super) id: i32,
                pub(super) shelf_id: i32,
                pub(super) place: i32,
            }

            #[svc::query]
            pub(super) async fn found(
                ctx: &Context<'_>,
                order_by: Option<OrderBy<Book>>,
            ) -> Result<Find<Book>> {
                let find = ctx
                    .db()
                    .find::<Book>()
                    .default_order(desc("year"))
                    .default_order(asc("title"));
                Ok(find.apply_order_by(order_by))
            }
            #[svc::query]
            pub(super) async fn counted(ctx: &Context<'_>) -> Result<i64> {
                ctx.db()
                    .find::<Book>()
                    .default_order(desc("year"))
                    .count()
                    .await
            }
            #[svc::query]
            pub(super) async fn titles(ctx: &Context<'_>) -> Result<Vec<String>> {
                let books = ctx.db().find::<Book>().default_order(desc("title")).await?;
                Ok(books.into_iter().map(|book| book.title).collect())
            }
            #[svc::query]
            pub(super) async fn held(ctx: &Context<'_>) -> Result<Vec<Shelf>> {
                ctx.db().find::<Shelf>().order_by(asc("id")).await
            }
        }
    };
}

macro_rules! queries_of {
    ($kind:ident) => {{
        use $kind::*;
        queries![
            shelves, books, roomy, pages, last, found, counted, titles, held
        ]
    }};
}

shelf!(columns, "c_shelf", "c_book", "c_row");
shelf!(data, "d_shelf", "d_book", "d_row");
shelf!(table, "tv_shelf", "tv_book", "tv_row");

fn sql() -> String {
    let tables = "
        CREATE TABLE tb_shelf (id int PRIMARY KEY, room text NOT NULL);
        CREATE TABLE tb_book (id int PRIMARY KEY, shelf_id int NOT NULL, place int NOT NULL, title text NOT NULL, year int);
        INSERT INTO tb_shelf VALUES (1, 'z'), (2, 'a');
        INSERT INTO tb_book VALUES (10, 1, 3, 'c', 1990), (11, 1, 1, 'b', 2001), (12, 1, 2, 'a', 2001),
          (13, 2, 1, 'e', NULL), (14, 2, 2, 'd', 1990);";
    let views = [("shelf", "id"), ("book", "id, shelf_id, place")];
    tables.to_owned()
        + &views
            .map(|(name, columns)| three_views(name, columns))
            .concat()
}

fn options(kind: &str) -> AppOptions {
    let list = match kind {
        "columns" => queries_of!(columns),
        "data" => queries_of!(data),
        _ => queries_of!(table),
    };
    AppOptions::new().auto_camel_case(true).queries(list)
}

/// The services of the three kinds, which must give the same answers.
async fn kinds() -> Kinds {
    let url = TestDatabase::shared("default_orders", &sql()).await;
    Kinds::serve(|kind| options(kind).database_url(&url)).await
}

#[tokio::test]
async fn a_list_has_its_default_order() {
    let kinds = kinds().await;
    assert_eq!(kinds.ids("books").await, [13, 12, 11, 10, 14]);
    assert_eq!(kinds.ids("books(limit: 2, offset: 1)").await, [12, 11]);
    assert_eq!(kinds.ids("roomy").await, [14, 13, 10, 12, 11]);
    assert_eq!(
        kinds.same("{ last(shelfId: 1) { id } }").await,
        json!({"last": {"id": 10}})
    );
}

#[tokio::test]
async fn a_clients_order_comes_first() {
    let kinds = kinds().await;
    assert_eq!(
        kinds.ids("books(orderBy: [{year: ASC}])").await,
        [10, 14, 12, 11, 13]
    );
    assert_eq!(
        kinds.ids("books(orderBy: [{title: DESC}])").await,
        [13, 14, 10, 11, 12]
    );
    assert_eq!(
        kinds.ids("books(orderBy: [{id: ASC}])").await,
        [10, 11, 12, 13, 14]
    );
    assert_eq!(kinds.ids("found").await, [13, 12, 11, 10, 14]);
    assert_eq!(
        kinds.ids("found(orderBy: [{year: ASC_NULLS_FIRST}])").await,
        [13, 10, 14, 12, 11]
    );
}

#[tokio::test]
async fn relations_of_planned_and_resolved_rows_have_the_default_order() {
    let kinds = kinds().await;
    for root in ["shelves(orderBy: [{id: ASC}])", "held"] {
        let answer = kinds.same(&format!(
            "{{ shelves: {root} {{ books {{ id }} latest(limit: 2) {{ id shout }} other: books(orderBy: [{{year: ASC}}]) {{ id }} }} }}"
        ))
        .await;
        assert_eq!(
            answer["shelves"],
            json!([
                {"books": [{"id": 11}, {"id": 12}, {"id": 10}],
                 "latest": [{"id": 12, "shout": "A"}, {"id": 11, "shout": "B"}],
                 "other": [{"id": 10}, {"id": 11}, {"id": 12}]},
                {"books": [{"id": 13}, {"id": 14}],
                 "latest": [{"id": 13, "shout": "E"}, {"id": 14, "shout": "D"}],
                 "other": [{"id": 14}, {"id": 13}]},
            ]),
            "{root}"
        );
    }
}

#[tokio::test]
async fn pages_continue_in_the_default_order() {
    let kinds = kinds().await;
    for (kind, app) in kinds.each() {
        let (mut ids, mut after) = (Vec::new(), "null".to_owned());
        while ids.len() < 5 {
            let query = format!(
                "{{ pages(first: 2, after: {after}) {{ nodes {{ id }} pageInfo {{ endCursor }} }} }}"
            );
            let pages = app.query(&query).await.data()["pages"].clone();
            let found = pages["nodes"].as_array().unwrap();
            assert!(!found.is_empty(), "{kind}: {pages}");
            ids.extend(found.iter().map(|node| node["id"].as_i64().unwrap()));
            after = pages["pageInfo"]["endCursor"].to_string();
        }
        assert_eq!(ids, [13, 12, 11, 10, 14], "{kind}");
    }
}

#[tokio::test]
async fn reads_of_resolvers_have_the_default_order() {
    let kinds = kinds().await;
    assert_eq!(
        kinds.same("{ counted titles }").await,
        json!({"counted": 5, "titles": ["e", "d", "c", "b", "a"]})
    );
}
