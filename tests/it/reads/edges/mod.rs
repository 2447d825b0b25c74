//! Relations through a view with a type, whose fields stand on the edges of pages, over the three
//! kinds of views.

mod broken;
mod fields;
mod orders;
mod rules;
mod schema;
mod several_keys;

use svc::prelude::*;
use svc_tests::{Kinds, TestDatabase, three_views};

/// The way in which a product came into a category.
#[svc_enum]
pub(crate) enum Way {
    ByHand,
    Imported,
}

#[svc_type]
pub(crate) struct Shelf {
    pub(crate) row: i32,
}

/// The same types over views of one kind.
// Inside of a macro, rustfmt moves the lines of a long attribute further in each time.
#[rustfmt::skip]
macro_rules! shop {
    ($kind:ident, $product:literal, $category:literal, $join:literal) => {
        mod $kind {
            use super::*;

            #[svc_type(sql_source = $product)]
            pub(super) struct Product {
                pub(super) id: i32,
                pub(super) name: String,
                #[relation(through = Placing, here = "product_id", there = "category_id", connection, aggregate)]
                pub(super) categories: Many<Category>,
            }

            #[svc_type]
            impl Product {
                fn shout(&self) -> String {
                    self.name.to_uppercase()
                }
            }

            /// The row that joins a product and a category.
            #[svc_type(sql_source = $join)]
            pub(super) struct Placing {
                pub(super) position: i32,
                pub(super) note: Option<String>,
                pub(super) way: Way,
                pub(super) tags: Vec<String>,
                pub(super) shelf: Option<Shelf>,
                #[relation]
                pub(super) product: One<Product>,
            }

            #[svc_type]
            impl Placing {
                fn twice(&self) -> i32 {
                    self.position * 2
                }
            }

            #[svc_type(sql_source = $category)]
            pub(super) struct Category {
                pub(super) id: Uuid,
                pub(super) name: String,
                #[relation(
                    through = Placing,
                    here = "category_id",
                    there = "product_id",
                    order_by = "-edge.position",
                    connection = "goods"
                )]
                pub(super) products: Many<Product>,
            }

            #[svc_type]
            impl Category {
                fn loud(&self) -> String {
                    self.name.to_uppercase()
                }
            }

            #[svc::query]
            pub(super) async fn products() -> Vec<Product>;
            #[svc::query]
            pub(super) async fn categories() -> Vec<Category>;
            #[svc::query]
            pub(super) async fn held(ctx: &Context<'_>) -> Result<Vec<Product>> {
                ctx.db().find::<Product>().order_by(asc("id")).await
            }
        }
    };
}

shop!(columns, "c_product", "c_category", "c_placing");
shop!(data, "d_product", "d_category", "d_placing");
shop!(table, "tv_product", "tv_category", "tv_placing");

fn sql() -> String {
    let tables = r#"
        CREATE TABLE tb_product (id int PRIMARY KEY, name text NOT NULL);
        CREATE TABLE tb_category (id uuid PRIMARY KEY, name text NOT NULL);
        CREATE TABLE tb_placing (product_id int NOT NULL, category_id uuid, position int NOT NULL, note text,
                                 way text NOT NULL DEFAULT 'BY_HAND', tags text[] NOT NULL DEFAULT '{}', shelf jsonb);
        INSERT INTO tb_product VALUES (1, 'apple'), (2, 'bread'), (3, 'cup');
        INSERT INTO tb_category SELECT ('00000000-0000-0000-0000-00000000000' || n)::uuid, name
          FROM (VALUES (1, 'food'), (2, 'fruit'), (3, 'sale'), (4, 'none')) AS c (n, name);
        INSERT INTO tb_placing SELECT product, ('00000000-0000-0000-0000-00000000000' || category)::uuid, position, note
          FROM (VALUES (1, 1, 3, NULL), (1, 2, 1, 'ripe'), (1, 3, 2, 'cheap'), (2, 1, 1, NULL), (3, 3, 5, 'blue'))
            AS j (product, category, position, note);
        UPDATE tb_placing SET way = 'IMPORTED', tags = '{a,b}', shelf = '{"row": 7}' WHERE note = 'ripe';
        INSERT INTO tb_placing VALUES (2, NULL, 9), (9, '00000000-0000-0000-0000-000000000001', 9);"#;
    let views = [
        ("product", "id"),
        ("category", "id"),
        ("placing", "product_id, position"),
    ];
    tables.to_owned()
        + &views
            .map(|(name, columns)| three_views(name, columns))
            .concat()
}

fn options(kind: &str) -> AppOptions {
    macro_rules! queries_of {
        ($kind:ident) => {
            queries![$kind::products, $kind::categories, $kind::held]
        };
    }
    let list = match kind {
        "columns" => queries_of!(columns),
        "data" => queries_of!(data),
        _ => queries_of!(table),
    };
    AppOptions::new().auto_camel_case(true).queries(list)
}

/// The URL of a database that no test changes.
async fn url() -> String {
    TestDatabase::shared("edges", &sql()).await
}

/// The services of the three kinds, which must give the same answers.
async fn kinds() -> Kinds {
    kinds_with(|_, options| options).await
}

async fn kinds_with(configure: impl Fn(&str, AppOptions) -> AppOptions) -> Kinds {
    let url = url().await;
    Kinds::serve(|kind| configure(kind, options(kind)).database_url(&url)).await
}

/// The same question of rows in one statement, and of values in hand.
const ROOTS: [&str; 2] = ["products(orderBy: [{id: ASC}])", "held"];
