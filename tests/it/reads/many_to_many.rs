//! Relations through a view that joins two others, over the three kinds of views.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, Kinds, TestDatabase, three_views};

/// The same types over views of one kind.
macro_rules! shop {
    ($kind:ident, $product:literal, $category:literal, $join:literal) => {
        mod $kind {
            use super::*;

            #[svc_type(name = $product, sql_source = $product)]
            pub(super) struct Product {
                pub(super) id: i32,
                pub(super) name: String,
                #[relation(through = $join, here = "product_id", there = "category_id", order_by = "name")]
                pub(super) categories: Many<Category>,
            }

            #[svc_type]
            impl Product {
                fn shout(&self) -> String {
                    self.name.to_uppercase()
                }
            }

            #[svc_type(name = $category, sql_source = $category)]
            pub(super) struct Category {
                pub(super) id: Uuid,
                pub(super) name: String,
                #[relation(through = $join, here = "category_id", there = "product_id")]
                pub(super) products: Many<Product>,
            }

            #[svc::query]
            pub(super) async fn products() -> Vec<Product>;
            #[svc::query]
            pub(super) async fn categories() -> Vec<Category>;
            #[svc::query]
            pub(super) async fn held(ctx: &Context<'_>) -> Result<Vec<Product>> {
                ctx.db().find::<Product>().order_by(asc("id")).await
            }
            #[svc::query]
            pub(super) async fn count_in(ctx: &Context<'_>, name: String) -> Result<i64> {
                ctx.db().find::<Product>().filter(col("categories.name").eq(name)).count().await
            }
        }
    };
}

shop!(columns, "c_product", "c_category", "c_join");
shop!(data, "d_product", "d_category", "d_join");
shop!(table, "tv_product", "tv_category", "tv_join");

fn sql() -> String {
    let tables = "
        CREATE TABLE tb_product (id int PRIMARY KEY, name text NOT NULL);
        CREATE TABLE tb_category (id uuid PRIMARY KEY, name text NOT NULL);
        CREATE TABLE tb_join (product_id int NOT NULL, category_id uuid);
        INSERT INTO tb_product VALUES (1, 'apple'), (2, 'bread'), (3, 'cup');
        INSERT INTO tb_category SELECT ('00000000-0000-0000-0000-00000000000' || n)::uuid, name
          FROM (VALUES (1, 'food'), (2, 'fruit'), (3, 'sale'), (4, 'none')) AS c (n, name);
        INSERT INTO tb_join SELECT product, ('00000000-0000-0000-0000-00000000000' || category)::uuid
          FROM (VALUES (1, 1), (1, 2), (1, 3), (2, 1), (3, 3), (3, 3)) AS j (product, category);
        INSERT INTO tb_join VALUES (2, NULL), (9, '00000000-0000-0000-0000-000000000001');";
    let views = [
        ("product", "id"),
        ("category", "id"),
        ("join", "product_id"),
    ];
    tables.to_owned()
        + &views
            .map(|(name, columns)| three_views(name, columns))
            .concat()
}

fn options(kind: &str) -> AppOptions {
    macro_rules! queries_of {
        ($kind:ident) => {
            queries![
                $kind::products,
                $kind::categories,
                $kind::held,
                $kind::count_in
            ]
        };
    }
    let list = match kind {
        "columns" => queries_of!(columns),
        "data" => queries_of!(data),
        _ => queries_of!(table),
    };
    AppOptions::new().auto_camel_case(true).queries(list)
}

/// The services of the three kinds, which must give the same answers.
async fn kinds() -> Kinds {
    kinds_with(|_, options| options).await
}

async fn kinds_with(configure: impl Fn(&str, AppOptions) -> AppOptions) -> Kinds {
    let url = TestDatabase::shared("many_to_many", &sql()).await;
    Kinds::serve(|kind| configure(kind, options(kind)).database_url(&url)).await
}

#[tokio::test]
async fn many_to_many_relations_are_read_from_both_sides() {
    let kinds = kinds().await;
    for root in ["products(orderBy: [{id: ASC}])", "held"] {
        let answer = kinds
            .same(&format!(
                "{{ products: {root} {{ shout categories {{ name }} }} }}"
            ))
            .await;
        assert_eq!(
            answer["products"],
            json!([
                {"shout": "APPLE", "categories": [{"name": "food"}, {"name": "fruit"}, {"name": "sale"}]},
                {"shout": "BREAD", "categories": [{"name": "food"}]},
                // Two rows that join the same are one.
                {"shout": "CUP", "categories": [{"name": "sale"}]},
            ]),
            "{root}"
        );
    }
    let answer = kinds.same(
        "{ categories(orderBy: [{name: ASC}]) { name products(orderBy: [{name: DESC}], limit: 1) {
             name categories(where: {name: {neq: \"food\"}}, offset: 1) { name } } } }",
    )
    .await;
    assert_eq!(
        answer["categories"],
        json!([
            {"name": "food", "products": [{"name": "bread", "categories": []}]},
            {"name": "fruit", "products": [{"name": "apple", "categories": [{"name": "sale"}]}]},
            {"name": "none", "products": []},
            {"name": "sale", "products": [{"name": "cup", "categories": []}]},
        ])
    );
}

#[tokio::test]
async fn conditions_reach_through_a_join() {
    let kinds = kinds().await;
    for (condition, found) in [
        (r#"categories: {some: {name: {eq: "food"}}}"#, json!([1, 2])),
        (r#"categories: {none: {name: {eq: "food"}}}"#, json!([3])),
        (r#"categories: {every: {name: {eq: "food"}}}"#, json!([2])),
        (
            r#"categories: {some: {products: {some: {name: {eq: "cup"}}}}}"#,
            json!([1, 3]),
        ),
    ] {
        let answer = kinds
            .same(&format!(
                "{{ products(where: {{{condition}}}, orderBy: [{{id: ASC}}]) {{ id }} }}"
            ))
            .await;
        let ids: Value = answer["products"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].clone())
            .collect();
        assert_eq!(ids, found, "{condition}");
    }
    assert_eq!(
        kinds.same(r#"{ countIn(name: "sale") }"#).await,
        json!({"countIn": 2})
    );
}

#[tokio::test]
async fn a_row_policy_holds_behind_a_join() {
    let own = |_: &Context<'_>| Ok(RowDecision::allow_where(col("name").ne("food")));
    let kinds = kinds_with(|kind, options| match kind {
        "columns" => options.row_policy::<columns::Category>(own),
        "data" => options.row_policy::<data::Category>(own),
        _ => options.row_policy::<table::Category>(own),
    })
    .await;
    let answer = kinds
        .same(
            r#"{ products(orderBy: [{id: ASC}]) { categories { name } }
             some: products(where: {categories: {some: {name: {eq: "food"}}}}) { id } countIn(name: "food") }"#,
        )
        .await;
    assert_eq!(
        answer,
        json!({
            "products": [
                {"categories": [{"name": "fruit"}, {"name": "sale"}]}, {"categories": []}, {"categories": [{"name": "sale"}]},
            ],
            "some": [], "countIn": 0,
        })
    );
}

#[tokio::test]
async fn a_read_through_a_join_is_one_statement() {
    let database = TestDatabase::copy_of("many_to_many", &sql()).await;
    for (kind, join) in [
        ("columns", "c_join"),
        ("data", "d_join"),
        ("table", "tv_join"),
    ] {
        let app = App::serve(options(kind).database_url(database.url())).await;
        app.query("{ products { categories { products { name } } } }")
            .await
            .data();
        assert_eq!(database.statements(join).await, 1, "{kind}");
    }
}

#[tokio::test]
async fn a_missing_join_view_is_named() {
    let database = TestDatabase::new(&sql()).await;
    let app = App::serve(options("columns").database_url(database.url())).await;
    database
        .execute("DROP VIEW c_join; CREATE VIEW c_join AS SELECT product_id, category_id AS kind FROM tb_join")
        .await;
    svc_tests::eventually(async || {
        let reply = app.get("/ready").await;
        let is_named = reply.status == 503
            && reply
                .text
                .contains("a relation needs the key `category_id` of `c_join`");
        if is_named { Ok(()) } else { Err(reply.text) }
    })
    .await;
    database.execute("DROP VIEW c_join").await;
    svc_tests::eventually(async || {
        let reply = app.get("/ready").await;
        if reply.status == 503 && reply.text.contains("c_join") {
            Ok(())
        } else {
            Err(reply.text)
        }
    })
    .await;
}
