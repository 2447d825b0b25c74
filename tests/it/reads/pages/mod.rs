//! Pages: by offset and by cursor, forward and backward, over the three kinds of views.

mod buffers;
mod contents;
mod refusals;
mod resolvers;
mod walks;

use serde_json::Value;
use svc::prelude::*;
use svc_tests::{App, TestDatabase, three_views};

macro_rules! item {
    ($name:ident, $source:literal) => {
        #[svc_type(sql_source = $source)]
        struct $name {
            id: Uuid,
            name: String,
            rank: Option<i32>,
            price: Decimal,
            at: DateTime<Utc>,
            note: Option<String>,
        }

        #[svc_type]
        impl $name {
            fn label(&self) -> String {
                format!("{} {:?}", self.name, self.rank)
            }

            async fn late_label(&self) -> String {
                tokio::task::yield_now().await;
                self.label()
            }
        }
    };
}

item!(ColumnItem, "c_item");
item!(DataItem, "d_item");
item!(TableItem, "tv_item");

#[svc::query]
async fn columns() -> Connection<ColumnItem>;
#[svc::query]
async fn data() -> Connection<DataItem>;
#[svc::query]
async fn table() -> Connection<TableItem>;
#[svc::query]
async fn column_list() -> Vec<ColumnItem>;
#[svc::query]
async fn data_list() -> Vec<DataItem>;
#[svc::query]
async fn table_list() -> Vec<TableItem>;

/// Rows with equal values.
#[svc_type(sql_source = "v_word")]
struct Word {
    name: String,
}

#[svc::query]
async fn words() -> Connection<Word>;

const SQL: &str = r"
CREATE TABLE tb_item (id uuid PRIMARY KEY, name text NOT NULL, rank int, price numeric NOT NULL, at timestamptz NOT NULL, note text);
INSERT INTO tb_item SELECT md5(n::text)::uuid, 'name ' || n % 4, nullif(n % 5, 3), (n % 3) * 1.10,
  '2024-01-01T00:00:00Z'::timestamptz + (n % 6) * interval '1 hour 0.000001 s', CASE WHEN n % 7 > 2 THEN 'n' || n % 2 END
  FROM generate_series(1, 61) n;
CREATE VIEW v_word AS SELECT name FROM tb_item;
";

async fn app() -> (TestDatabase, App) {
    let database = TestDatabase::copy_of(
        "pages",
        &(SQL.to_owned() + &three_views("item", "id, rank")),
    )
    .await;
    let queries = queries![
        columns,
        data,
        table,
        column_list,
        data_list,
        table_list,
        resolvers::ranked,
        resolvers::ranked_list,
        resolvers::names,
        words
    ];
    let limits = svc::Limits {
        complexity: 10_000,
        ..svc::Limits::default()
    };
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true)
        .limits(limits)
        .queries(queries);
    let app = App::serve(options).await;
    (database, app)
}

fn ids(rows: &Value) -> Vec<String> {
    rows.as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].as_str().unwrap().to_owned())
        .collect()
}
