//! Upserts by a key of which the table gives a part itself, such as the tenant.

use serde_json::json;

use svc::db::SessionVariables;
use svc::prelude::*;
use svc_tests::{App, Reply, TestDatabase};

#[svc_input]
struct NewProduct {
    sku: String,
    name: String,
}

#[svc_type(sql_source = "v_product")]
struct Product {
    id: i32,
    tenant: String,
    sku: String,
    name: String,
}

#[svc::query(order_by = "id")]
async fn products() -> Vec<Product>;
#[svc::mutation(upsert = "tb_product", conflict = ["tenant", "sku"])]
async fn put(input: NewProduct) -> Product;
#[svc::mutation(upsert = "tb_product", conflict = ["tenant", "sku"])]
async fn put_all(input: Vec<NewProduct>) -> Vec<Product>;
#[svc::mutation(upsert = "tb_product", conflict = ["tenant", "sku"], on_conflict = nothing)]
async fn keep(input: NewProduct) -> Product;
#[svc::mutation(upsert = "tb_product", conflict = ["sku", "name"])]
async fn put_named(input: NewProduct) -> Product;
#[svc::mutation(upsert = "tb_product", conflict = ["region", "sku"])]
async fn put_regional(input: NewProduct) -> Product;
#[svc::mutation(upsert = "tb_product", conflict = ["tenantt", "sku"])]
async fn put_misspelt(input: NewProduct) -> Product;

const SQL: &str = "
CREATE TABLE tb_product (
    id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, tenant text NOT NULL DEFAULT current_setting('app.tenant'),
    region text, sku text NOT NULL, name text NOT NULL, UNIQUE (tenant, sku), UNIQUE (sku, name), UNIQUE (region, sku));
CREATE VIEW v_product AS SELECT id, tenant, sku, name FROM tb_product;";

fn options(database: &TestDatabase) -> AppOptions {
    let variables = SessionVariables::new().header("app.tenant", "x-tenant");
    AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true)
        .session_variables(variables)
}

async fn ask(app: &App, tenant: &str, document: &str) -> Reply {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    app.send(
        request
            .header("x-tenant", tenant)
            .body(json!({ "query": document }).to_string()),
    )
    .await
}

#[tokio::test]
async fn keys_missing_from_the_input_have_their_column_default() {
    for is_governed in [false, true] {
        let database = TestDatabase::new(SQL).await;
        let options = options(&database)
            .queries(queries![products])
            .mutations(mutations![put, put_all, keep]);
        let app = App::serve(match is_governed {
            true => options.row_policy::<Product>(|ctx| {
                let tenant = ctx.header("x-tenant").unwrap_or_default().to_owned();
                Ok(RowDecision::allow_where(col("tenant").eq(tenant)))
            }),
            false => options,
        })
        .await;
        for (tenant, document, expected) in [
            (
                "a",
                r#"mutation { put(input: {sku: "1", name: "A"}) { id tenant } }"#,
                json!({"id": 1, "tenant": "a"}),
            ),
            (
                "b",
                r#"mutation { put(input: {sku: "1", name: "B"}) { tenant name } }"#,
                json!({"tenant": "b", "name": "B"}),
            ),
            (
                "a",
                r#"mutation { put(input: {sku: "1", name: "C"}) { id name } }"#,
                json!({"id": 1, "name": "C"}),
            ),
            (
                "a",
                r#"mutation { keep(input: {sku: "1", name: "D"}) { id name } }"#,
                json!({"id": 1, "name": "C"}),
            ),
            (
                "b",
                r#"mutation { keep(input: {sku: "1", name: "D"}) { tenant name } }"#,
                json!({"tenant": "b", "name": "B"}),
            ),
            (
                "b",
                r#"mutation { putAll(input: [{sku: "2", name: "E"}, {sku: "1", name: "F"}]) { tenant name } }"#,
                json!([{"tenant": "b", "name": "E"}, {"tenant": "b", "name": "F"}]),
            ),
        ] {
            let data = ask(&app, tenant, document).await.data();
            let answer = data.as_object().expect("an object").values().next();
            assert_eq!(
                answer,
                Some(&expected),
                "{is_governed} {tenant}: {document}"
            );
        }
        let rows = ask(&app, "a", "{ products { name } }").await.data();
        let all = json!([{"name": "C"}, {"name": "F"}, {"name": "E"}]);
        let expected = if is_governed {
            json!([{"name": "C"}])
        } else {
            all
        };
        assert_eq!(rows["products"], expected, "{is_governed}");
    }
}

#[tokio::test]
async fn a_column_without_a_default_is_named() {
    let database = TestDatabase::new(SQL).await;
    let options = options(&database).queries(queries![products]);
    let options = options.mutations(mutations![put, put_named, put_regional, put_misspelt]);
    let found = svc::testing::check_views(&options, &database.url())
        .await
        .unwrap();
    let faults: Vec<String> = found
        .iter()
        .map(ToString::to_string)
        .filter(|found| found.starts_with("fault"))
        .collect();
    assert_eq!(
        faults,
        [
            "fault: Mutation.putMisspelt of tb_product: `putMisspelt` cannot write: `tb_product` has no column `tenantt`; \
             give the input a field of that name, or the column a default",
            "fault: Mutation.putRegional of tb_product: `putRegional` cannot write: the column `region` of `tb_product` has \
             no default, and the input has no such field; give the input a field of that name, or the column a default",
        ]
    );
}
