//! Mutations that do not fit their tables: they are named when the database is reached, or do not
//! start.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

use super::tables::{NewProduct, SQL};

mod wrong {
    use serde_json::Value;
    use svc::prelude::*;

    use super::NewProduct;

    #[svc_type(sql_source = "s_product", name = "Product")]
    pub(super) struct Product {
        id: i32,
    }

    #[svc_input]
    pub(super) struct Wrong {
        skew: String,
    }

    #[svc_input]
    pub(super) struct Shapes {
        name: Value,
    }

    #[svc_input]
    pub(super) struct Optional {
        sku: Option<String>,
    }

    #[svc::query]
    pub(super) async fn products() -> Vec<Product>;
    #[svc::mutation(insert = "app.tb_product")]
    pub(super) async fn no_key(input: Optional) -> Product;
    #[svc::mutation(insert = "app.tb_product", key = "pk_product")]
    pub(super) async fn no_column(input: Wrong) -> Product;
    #[svc::mutation(insert = "app.tb_product", key = "pk_product")]
    pub(super) async fn no_json(input: Shapes) -> Product;
    #[svc::mutation(insert = "app.tb_missing")]
    pub(super) async fn no_table(input: Optional) -> Product;
    #[svc::mutation(upsert = "app.tb_product", key = "pk_product", conflict = "sku")]
    pub(super) async fn no_conflict(input: Optional) -> Product;
    #[svc::mutation(upsert = "app.tb_product", key = "pk_product", conflict = ["name", "sku"])]
    pub(super) async fn no_index(input: NewProduct) -> Product;
    #[svc::mutation(insert = "app.tb_product", key = "pk_product")]
    pub(super) async fn no_input(sku: String) -> Product;
    #[svc::mutation(delete = "app.tb_product", key = "pk_product")]
    pub(super) async fn no_choice(id: Option<i32>) -> Product;
}

/// The readiness names each mutation that cannot write; it writes once it can.
#[tokio::test]
async fn mismatched_tables_are_named() {
    use wrong::{no_column, no_json, no_key, no_table, products};

    let database = TestDatabase::copy_of("tables", SQL).await;
    let options = || {
        AppOptions::new()
            .database_url(database.url())
            .queries(queries![products])
            .auto_camel_case(true)
    };
    let app = App::serve(options().mutations(mutations![no_key, no_column, no_json])).await;
    app.query("{ products { id } }").await;
    let schema =
        super::ready(&app, "`noKey` cannot write").await.json()["checks"]["schema"].to_string();
    for part in [
        "`noKey` cannot write: `app.tb_product` has no column `id`; name the one with the view's `id`, as in `key = ",
        "`noColumn` cannot write: `app.tb_product` has no column `skew`; name the field as its column",
        "`noJson` cannot write: the column `name` of `app.tb_product` is of type text; an object needs one of type jsonb",
    ] {
        assert!(schema.contains(part), "no {part} in {schema}");
    }
    let reply = app
        .query(r#"mutation { noColumn(input: {skew: "a"}) { id } }"#)
        .await;
    assert_eq!(reply.code(), "INTERNAL_SERVER_ERROR", "{}", reply.text);
    let app = App::serve(options().mutations(mutations![no_table])).await;
    let query = r#"mutation { noTable(input: {sku: "a"}) { id } }"#;
    assert_eq!(app.query(query).await.code(), "INTERNAL_SERVER_ERROR");
    let ready = super::ready(&app, "app.tb_missing").await;
    assert!(
        ready.json()["checks"]["schema"]
            .to_string()
            .contains("app.tb_missing"),
        "{}",
        ready.text
    );
}

/// An index that is made later is noticed.
#[tokio::test]
async fn a_missing_unique_index_of_an_upsert_is_reported() {
    use wrong::{no_index, products};

    let database = TestDatabase::copy_of("tables", SQL).await;
    // None of these finds rows by both columns.
    for index in [
        "(name)",
        "(name, sku, price)",
        "(name, sku) WHERE price > 0",
        "(lower(name), sku)",
    ] {
        database
            .execute(&format!("CREATE UNIQUE INDEX ON app.tb_product {index}"))
            .await;
    }
    let options = || {
        let options = AppOptions::new()
            .queries(queries![products])
            .mutations(mutations![no_index]);
        options.database_url(database.url()).auto_camel_case(true)
    };
    let found = svc::testing::check_views(&options(), &database.url())
        .await
        .unwrap();
    assert_eq!(
        found.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "fault: Mutation.noIndex of app.tb_product: `noIndex` cannot write: `app.tb_product` has no unique index on \
          `name`, `sku`; make it: CREATE UNIQUE INDEX ON app.tb_product (\"name\", \"sku\")"
        ]
    );
    let app = App::serve(options()).await;
    app.query("{ products { id } }").await;
    let ready = async || app.get("/ready").await.json()["checks"]["schema"].to_string();
    super::ready(&app, "has no unique index on `name`, `sku`").await;
    database
        .execute("CREATE UNIQUE INDEX ON app.tb_product (sku, name) INCLUDE (price)")
        .await;
    svc_tests::eventually(async || match ready().await {
        schema if schema == "\"ok\"" => Ok(()),
        schema => Err(schema),
    })
    .await;
    let put = r#"mutation { noIndex(input: {sku: "a", name: "A"}) { id } }"#;
    assert_eq!(app.query(put).await.data(), json!({"noIndex": {"id": 1}}));
}

#[tokio::test]
async fn mismatched_arguments_stop_the_start() {
    use wrong::{no_choice, no_conflict, no_input, products};

    let start = |mutations| {
        let options = AppOptions::new()
            .database_url("postgres://nobody@localhost/none")
            .queries(queries![products]);
        create_svc_app(options.mutations(mutations))
    };
    for (mutations, why) in [
        (
            mutations![no_conflict],
            "needs a field of that name without `Option`",
        ),
        (
            mutations![no_input],
            "take one input object with the columns as its fields",
        ),
        (
            mutations![no_choice],
            "`id` chooses the row, so it is a value that has to be given",
        ),
    ] {
        let error = start(mutations).await.unwrap_err().to_string();
        assert!(error.contains(why), "no {why} in {error}");
    }
}
