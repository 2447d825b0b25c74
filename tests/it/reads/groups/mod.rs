//! Groups of rows over the three kinds of views: by what they are, which are kept, and what is
//! computed of them.

mod by;
mod distinct;
mod having;
mod periods;
mod plain;
mod random;
mod rows;
mod schema;

use svc::Limits;
use svc::prelude::*;
use svc_tests::{App, TestDatabase, three_views};

/// The way to a customer.
#[svc_enum]
#[derive(Debug, Clone, Copy)]
enum Channel {
    #[svc(stored = "s")]
    Shop,
    #[svc(stored = "w")]
    Web,
}

macro_rules! sales {
    ($sale:ident, $sales:literal, $shop:ident, $shops:literal) => {
        #[svc_type(sql_source = $shops)]
        struct $shop {
            id: i32,
            name: String,
            country: Option<String>,
            opened_on: Option<NaiveDate>,
            meta: serde_json::Value,
        }

        #[svc_type(sql_source = $sales)]
        struct $sale {
            id: i32,
            channel: Channel,
            city: Option<String>,
            pieces: Option<i32>,
            price: Decimal,
            weight: Option<f64>,
            sold_on: Option<NaiveDate>,
            sold_at: DateTime<Utc>,
            paid: bool,
            meta: serde_json::Value,
            shop_id: Option<i32>,
            #[relation]
            shop: Option<One<$shop>>,
        }
    };
}

sales!(ColumnSale, "c_sale", ColumnShop, "c_shop");
sales!(DataSale, "d_sale", DataShop, "d_shop");
sales!(TableSale, "tv_sale", TableShop, "tv_shop");

#[svc::query]
async fn columns() -> Aggregate<ColumnSale>;
#[svc::query]
async fn data() -> Aggregate<DataSale>;
#[svc::query]
async fn table() -> Aggregate<TableSale>;
/// Sales with pieces, from a resolver.
#[svc::query]
async fn resolved(
    ctx: &Context<'_>,
    r#where: Option<Where<TableSale>>,
) -> Result<Aggregate<TableSale>> {
    Ok(ctx
        .db()
        .find::<TableSale>()
        .filter(col("pieces").gt(0))
        .apply_where(r#where)
        .aggregate())
}

const TABLES: &str = "
CREATE TABLE tb_shop (id int PRIMARY KEY, name text NOT NULL, country text, opened_on date,
  meta jsonb NOT NULL DEFAULT '{}');
CREATE TABLE tb_sale (id int PRIMARY KEY, channel text NOT NULL, city text, pieces int, price numeric NOT NULL,
  weight float8, sold_on date, sold_at timestamptz NOT NULL, paid boolean NOT NULL, shop_id int,
  meta jsonb NOT NULL DEFAULT '{}');
";

const ROWS: &str = "
INSERT INTO tb_shop VALUES (1, 'Adler', 'DE', '2020-05-01'), (2, 'Bär', 'AT', NULL), (3, 'Adler', NULL, '2021-05-01');
INSERT INTO tb_sale VALUES
  (1, 's', 'Ulm', 2, 1.50, 0.5, '2024-01-31', '2024-01-31T23:30:00Z', true, 1),
  (2, 's', 'Ulm', 3, 2.00, 1.5, '2024-02-01', '2024-02-01T00:10:00Z', false, 1),
  (3, 'w', 'Bonn', NULL, 0.25, NULL, NULL, '2024-12-30T00:00:00Z', true, 2),
  (4, 'w', NULL, 7, 9.75, 2, '2024-12-29', '2024-12-29T23:59:59.999999Z', true, NULL),
  (5, 'w', 'Bonn', 1, 4.00, 2, '2025-01-05', '2025-01-05T12:00:00Z', false, 3),
  (6, 's', 'Bonn', 0, 4.00, 1, '2025-01-06', '2025-01-06T12:59:00+01', false, 9);
";

/// The three kinds of views over these rows.
fn sql(rows: &str) -> String {
    let views = three_views("shop", "id") + &three_views("sale", "id, channel");
    [TABLES, rows, &views].concat()
}

fn options(database: &TestDatabase) -> AppOptions {
    let queries = queries![columns, data, table, resolved];
    AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true)
        .queries(queries)
}

async fn app() -> (TestDatabase, App) {
    let database = TestDatabase::copy_of("groups", &sql(ROWS)).await;
    let app = App::serve(options(&database)).await;
    (database, app)
}

/// An application whose limits are those of `change`.
async fn limited(change: impl FnOnce(&mut Limits)) -> (TestDatabase, App) {
    let database = TestDatabase::copy_of("groups", &sql(ROWS)).await;
    let mut limits = Limits::default();
    change(&mut limits);
    let app = App::serve(options(&database).limits(limits)).await;
    (database, app)
}
