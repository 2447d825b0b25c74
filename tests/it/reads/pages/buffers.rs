//! A page by cursor reads about as many buffers as the first page, wherever it is, if an index has
//! its order.
//!
//! `PAGES_LISTS=2` reads both lists by each order on each kind of views, and not one of them.

use serde_json::Value;
use svc::{AppOptions, DatabaseConfig, SvcConfig};
use svc_tests::{App, TestDatabase, cases};

/// The same types over views of one kind.
macro_rules! books {
    ($kind:ident, $shelf:literal, $book:literal) => {
        mod $kind {
            use svc::prelude::*;

            #[svc_type(sql_source = $shelf)]
            struct Shelf {
                id: i32,
                #[relation(to = "shelf_id", connection)]
                books: Many<Book>,
            }

            #[svc_type(sql_source = $book)]
            struct Book {
                id: i32,
                score: i32,
                level: i32,
                rank: Option<i32>,
            }

            #[svc::query]
            async fn books() -> Connection<Book>;
            #[svc::query]
            async fn shelf(id: i32) -> Option<Shelf>;

            pub(super) fn operations(options: AppOptions) -> AppOptions {
                let limits = svc::Limits {
                    complexity: 10_000,
                    ..svc::Limits::default()
                };
                options
                    .auto_camel_case(true)
                    .limits(limits)
                    .queries(queries![books, shelf])
            }
        }
    };
}

books!(columns, "c_shelf", "c_book");
books!(data, "d_shelf", "d_book");
books!(table, "tv_shelf", "tv_book");

const KINDS: [&str; 3] = ["columns", "data", "table"];

/// Three levels, one null among four ranks, and no two equal scores.
const TABLES: &str = "
CREATE EXTENSION pg_stat_statements;
CREATE TABLE tb_book (id int PRIMARY KEY, shelf_id int NOT NULL, score int NOT NULL, level int NOT NULL, rank int, note text NOT NULL);
INSERT INTO tb_book SELECT n, n % 2 + 1, n * 7919 % 20011, n % 3, CASE WHEN n % 4 > 0 THEN n * 6131 % 20011 / 3 END, repeat(md5(n::text), 6)
  FROM generate_series(1, 20000) n;
CREATE VIEW c_shelf AS SELECT n AS id FROM generate_series(1, 2) n;
CREATE VIEW d_shelf AS SELECT * FROM c_shelf;
CREATE VIEW tv_shelf AS SELECT * FROM c_shelf;
CREATE VIEW c_book AS SELECT * FROM tb_book;
CREATE TABLE tv_book AS SELECT id, shelf_id,
  jsonb_build_object('score', score, 'level', level, 'rank', rank, 'note', note) AS data FROM tb_book;
ALTER TABLE tv_book ADD PRIMARY KEY (id);
CREATE VIEW d_book AS SELECT * FROM tv_book;
";

/// Each order of a client, and the keys of its index.
const ORDERS: [(&str, &str); 6] = [
    ("{score: ASC}", "score, id"),
    ("{score: DESC}", "score, id"),
    ("{rank: ASC}", "rank, id"),
    ("{rank: DESC}", "rank, id"),
    ("{level: ASC}, {score: DESC}", "level, score DESC, id DESC"),
    ("{rank: DESC}, {score: ASC}", "rank, score DESC, id DESC"),
];

/// The beginning and the end of a document with each list, around the list's arguments.
const LISTS: [(&str, &str); 2] = [
    ("list: books", ""),
    ("shelf(id: 1) { list: booksConnection", "}"),
];

/// Places in a list, as the page and its cursor: near both ends, somewhere between, and where nulls
/// begin and end. The ranks of the two books are null and not null.
const PLACES: [(&str, &str); 8] = [
    ("first: 20", "endCursor"),
    ("last: 21", "startCursor"),
    ("first: 1, where: {id: {eq: 5000}}", "endCursor"),
    ("first: 1, where: {id: {eq: 7002}}", "endCursor"),
    ("first: 1, where: {rank: {isnull: true}}", "endCursor"),
    ("last: 1, where: {rank: {isnull: true}}", "endCursor"),
    ("first: 1, where: {rank: {isnull: false}}", "endCursor"),
    ("last: 1, where: {rank: {isnull: false}}", "endCursor"),
];

/// PostgreSQL settles for a plan after five calls.
const CALLS: usize = 7;

/// The tables, and an index for each order, of all books and of a shelf's.
fn sql() -> String {
    let of_data = |key: &str| {
        let (name, direction) = key.split_once(' ').unwrap_or((key, ""));
        match name {
            "id" => key.to_owned(),
            _ => format!("(((data->'{name}') #>> '{{}}')::numeric) {direction}"),
        }
    };

    let mut sql = TABLES.to_owned();
    for (at, (_, keys)) in ORDERS.iter().enumerate() {
        let of_data: Vec<String> = keys.split(", ").map(of_data).collect();
        let of_data = of_data.join(", ");
        // The reverse order has the same index.
        if ORDERS[..at].iter().any(|(_, others)| others == keys) {
            continue;
        }
        sql.push_str(&format!(
            "CREATE INDEX ON tb_book ({keys}); CREATE INDEX ON tb_book (shelf_id, {keys});
             CREATE INDEX ON tv_book ({of_data}); CREATE INDEX ON tv_book (shelf_id, {of_data});"
        ));
    }

    sql + "ANALYZE;"
}

/// A list of books, with the statistics of its statements.
struct List<'a> {
    app: &'a App,
    pool: &'a sqlx::PgPool,
    /// The beginning and the end of a document, around the list's arguments.
    around: (&'static str, &'static str),
    order: &'static str,
}

impl List<'_> {
    async fn page(&self, arguments: &str) -> Value {
        let ((before, after), order) = (self.around, self.order);
        let query = format!(
            "{{ {before}({arguments}, orderBy: [{order}]) {{ edges {{ cursor node {{ id }} }}
                pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} {after} }}"
        );
        let data = self.app.query(&query).await.data();
        data.get("list")
            .or_else(|| data["shelf"].get("list"))
            .unwrap_or_else(|| panic!("{query}: {data}"))
            .clone()
    }

    /// The buffers that these pages read, on average of the pages with the statement that reads
    /// most.
    async fn buffers(&self, pages: &[String]) -> i64 {
        for page in pages {
            self.page(page).await;
        }

        let reset = "SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname = current_database()";
        sqlx::query(reset).execute(self.pool).await.unwrap();
        for _ in 1..CALLS {
            for page in pages {
                self.page(page).await;
            }
        }

        // Other statements run once.
        let read = "SELECT max((shared_blks_hit + shared_blks_read) / calls)::bigint FROM pg_stat_statements(false)
                    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND calls > 2";
        sqlx::query_scalar(read).fetch_one(self.pool).await.unwrap()
    }

    /// Compares the pages at all places with those at the ends of the list. Of these, the one that
    /// reads more counts: rows without a rank are ordered by their id, and so are neighbors on disk.
    async fn assert_even(&self, kind: &str) {
        let has_nulls = self.order.contains("rank");
        let mut cursors = Vec::new();
        for (place, cursor) in PLACES {
            if has_nulls || !place.contains("rank") {
                let cursor = self.page(place).await["pageInfo"][cursor].take();
                assert!(cursor.is_string(), "{place}");
                cursors.push(cursor);
            }
        }

        let mut first = 0;
        for size in ["first: 20", "last: 20"] {
            first = self.buffers(&[size.to_owned()]).await.max(first);
        }

        for (size, past) in [("first: 20", "after"), ("last: 20", "before")] {
            let others = cursors
                .iter()
                .map(|cursor| format!("{size}, {past}: {cursor}"));
            let read = self.buffers(&others.collect::<Vec<_>>()).await;
            assert!(
                read <= 2 * first,
                "{kind}: {} by {} reads {read} buffers {past} a cursor, and {first} without one",
                self.around.0,
                self.order
            );
        }
    }
}

#[tokio::test]
async fn pages_read_about_as_much_as_the_first() {
    let database = TestDatabase::new(&sql()).await;
    let pool = database.pool().await;
    let lists = usize::try_from(cases("PAGES_LISTS", 1, 2)).unwrap();
    for (number, kind) in KINDS.into_iter().enumerate() {
        // The checks for changed views would be among the counted statements.
        let config = SvcConfig {
            database: DatabaseConfig {
                catalogue_poll: None,
                ..DatabaseConfig::default()
            },
            ..SvcConfig::default()
        };
        let options = AppOptions::new()
            .config(config)
            .database_url(database.url());
        let options = match kind {
            "columns" => columns::operations(options),
            "data" => data::operations(options),
            _ => table::operations(options),
        };
        let app = App::serve(options).await;
        for (at, (order, _)) in ORDERS.into_iter().enumerate() {
            // Where one is enough, each order has both lists, on different kinds.
            for around in LISTS.into_iter().cycle().skip(number + at).take(lists) {
                let (app, pool) = (&app, &pool);
                let list = List {
                    app,
                    pool,
                    around,
                    order,
                };
                list.assert_even(kind).await;
            }
        }
    }
}
