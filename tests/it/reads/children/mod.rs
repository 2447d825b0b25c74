//! Pages and aggregates of children, over the three kinds of views.

mod aggregates;
mod conditions;
mod elsewhere;
mod pages;
mod policies;
mod random;
mod schema;

use serde_json::Value;
use svc::prelude::*;
use svc_tests::{App, TestDatabase, agreed_data, three_views};

/// The same types over views of one kind.
macro_rules! shop {
    ($kind:ident, $category:literal, $product:literal, $review:literal, $join:literal) => {
        pub(super) mod $kind {
            use super::*;

            #[svc_type(sql_source = $category)]
            pub(in super::super) struct Category {
                pub(in super::super) id: i32,
                pub(in super::super) name: String,
                #[relation(
                                                                                            through = $join,
                                                                                            here = "category_id",
                                                                                            there = "product_id",
                                                                                            order_by = "-name",
                                                                                            connection,
                                                                                            aggregate
                                                                                        )]
                pub(in super::super) products: Many<Product>,
            }

            #[svc_type(sql_source = $product)]
            pub(in super::super) struct Product {
                pub(in super::super) id: i32,
                pub(in super::super) name: String,
                pub(in super::super) price: Decimal,
                #[relation(to = "product_id", connection, aggregate)]
                pub(in super::super) reviews: Many<Review>,
                #[relation(through = $join, here = "product_id", there = "category_id", aggregate)]
                pub(in super::super) categories: Many<Category>,
            }

            #[svc_type]
            impl Product {
                fn shout(&self) -> String {
                    self.name.to_uppercase()
                }
            }

            #[svc_type(sql_source = $review)]
            pub(in super::super) struct Review {
                pub(in super::super) id: i32,
                pub(in super::super) stars: i32,
                pub(in super::super) body: Option<String>,
                pub(in super::super) weight: Option<f64>,
                pub(in super::super) written_on: NaiveDate,
                #[relation]
                pub(in super::super) product: Option<One<Product>>,
            }

            #[svc_type]
            impl Review {
                fn loud(&self) -> String {
                    self.body.clone().unwrap_or_default().to_uppercase()
                }
            }

            #[svc::query]
            pub(in super::super) async fn categories() -> Vec<Category>;
            #[svc::query]
            pub(in super::super) async fn products() -> Vec<Product>;
            #[svc::query]
            pub(in super::super) async fn product(id: i32) -> Option<Product>;
            #[svc::query]
            pub(in super::super) async fn reviews() -> Vec<Review>;
            #[svc::query]
            pub(in super::super) async fn pages() -> Connection<Product>;
            #[svc::query]
            pub(in super::super) async fn held(ctx: &Context<'_>) -> Result<Vec<Product>> {
                ctx.db().find::<Product>().order_by(asc("id")).await
            }
            /// A product that is in no view, and one without a key.
            #[svc::query]
            pub(in super::super) async fn made() -> Vec<Product> {
                let product = |id: i32, reviews| {
                    let (name, price) = (format!("made {id}"), Decimal::from(id));
                    Product { id, name, price, reviews, categories: Many::default() }
                };
                vec![product(1, Many::new(1)), product(99, Many::new(99)), product(0, Many::default())]
            }
        }
    };
}

shop!(columns, "c_category", "c_product", "c_review", "c_join");
shop!(data, "d_category", "d_product", "d_review", "d_join");
shop!(table, "tv_category", "tv_product", "tv_review", "tv_join");

const KINDS: [&str; 3] = ["columns", "data", "table"];

fn sql() -> String {
    let tables = "
        CREATE TABLE tb_category (id int PRIMARY KEY, name text NOT NULL);
        CREATE TABLE tb_product (id int PRIMARY KEY, name text NOT NULL, price numeric NOT NULL);
        CREATE TABLE tb_join (product_id int NOT NULL, category_id int NOT NULL);
        CREATE TABLE tb_review (id int PRIMARY KEY, product_id int, stars int NOT NULL, body text, weight float8,
                                written_on date NOT NULL);
        INSERT INTO tb_category VALUES (1, 'food'), (2, 'fruit'), (3, 'none');
        INSERT INTO tb_product VALUES (1, 'apple', 1.50), (2, 'bread', 3), (3, 'cup', 7.25), (4, 'dust', 0);
        INSERT INTO tb_join VALUES (1, 1), (1, 2), (2, 1), (2, 1);
        INSERT INTO tb_review VALUES
          (1, 1, 5, 'good', 0.5, '2024-01-01'), (2, 1, 3, NULL, NULL, '2024-01-02'), (3, 1, 5, 'fine', 1.25, '2024-01-03'),
          (4, 2, 1, 'stale', 2, '2024-01-01'), (5, 2, 4, 'crisp', NULL, '2024-01-04'), (6, 3, 5, NULL, NULL, '2024-01-05'),
          (7, NULL, 2, 'lost', 1, '2024-01-06');";
    let views = [
        ("category", "id"),
        ("product", "id, name"),
        ("review", "id, product_id, stars"),
        ("join", "product_id"),
    ];
    tables.to_owned()
        + &views
            .map(|(name, columns)| three_views(name, columns))
            .concat()
}

async fn app(
    database: &TestDatabase,
    kind: &str,
    configure: impl Fn(&str, AppOptions) -> AppOptions,
) -> App {
    macro_rules! queries_of {
        ($kind:ident) => {
            queries![
                $kind::categories,
                $kind::products,
                $kind::product,
                $kind::reviews,
                $kind::pages,
                $kind::held,
                $kind::made,
            ]
        };
    }
    let list = match kind {
        "columns" => queries_of!(columns),
        "data" => queries_of!(data),
        _ => queries_of!(table),
    };
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    App::serve(configure(kind, options.queries(list))).await
}

/// The three kinds of views, served.
struct Shop {
    database: TestDatabase,
    apps: Vec<App>,
}

impl Shop {
    async fn open() -> Self {
        Self::with(|_, options| options).await
    }

    async fn with(configure: impl Fn(&str, AppOptions) -> AppOptions) -> Self {
        let database = TestDatabase::copy_of("children", &sql()).await;
        let mut apps = Vec::new();
        for kind in KINDS {
            apps.push(app(&database, kind, &configure).await);
        }
        Self { database, apps }
    }

    /// The one answer that the three kinds must have, the first time and from statements that are
    /// kept.
    async fn same(&self, query: &str) -> Value {
        let ask = async |index: usize| {
            let first = self.apps[index].query(query).await.text;
            let again = self.apps[index].query(query).await.text;
            assert_eq!(
                svc_tests::without_error_ids(&again),
                svc_tests::without_error_ids(&first),
                "{query}"
            );
            first
        };
        agreed_data(query, [0, 1, 2], ask).await
    }

    /// The errors with which the three kinds refuse a query.
    async fn refused(&self, query: &str) -> String {
        svc_tests::agreed(query, [0, 1, 2], async |index: usize| {
            self.apps[index].query(query).await.text
        })
        .await
    }
}
