//! Groups by fields of a related row: its policies, masks and gates hold, over the three kinds of
//! views.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase, three_views};

macro_rules! sales {
    ($sale:ident, $sales:literal, $shop:ident, $shops:literal) => {
        #[svc_type(sql_source = $shops, authorize_fields = ["owner"])]
        struct $shop {
            id: i32,
            name: Option<String>,
            owner: Option<String>,
            open: Option<bool>,
        }

        #[svc_type(sql_source = $sales)]
        struct $sale {
            id: i32,
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

/// The first shops, as many as the client says.
fn first_ones(ctx: &Context<'_>) -> Result<RowDecision> {
    let most: i32 = ctx
        .header("x-most")
        .and_then(|most| most.parse().ok())
        .unwrap_or(0);
    Ok(RowDecision::allow_where(col("id").lte(most)))
}

fn where_open(_: &Context<'_>) -> Result<RowDecision> {
    Ok(RowDecision::allow_where(col("open").eq(true)))
}

async fn no_owners(request: AuthorizationRequest) -> bool {
    !request.operation_name().ends_with(".owner")
}

async fn app() -> (TestDatabase, App) {
    let tables = "CREATE TABLE tb_shop (id int PRIMARY KEY, name text, owner text, open boolean);
        CREATE TABLE tb_sale (id int PRIMARY KEY, shop_id int);
        INSERT INTO tb_shop VALUES (1, 'adler', 'ann', true), (2, 'secret', 'ben', false), (3, 'hidden', 'cy', true);
        INSERT INTO tb_sale SELECT n, n % 4 FROM generate_series(1, 12) n;";
    let views = three_views("shop", "id") + &three_views("sale", "id");
    let database = TestDatabase::new(&[tables, &views].concat()).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true)
        .queries(queries![columns, data, table])
        .row_policy::<ColumnShop>(first_ones)
        .row_policy::<DataShop>(first_ones)
        .row_policy::<TableShop>(first_ones)
        .mask_where::<ColumnShop>("name", where_open)
        .mask_where::<DataShop>("name", where_open)
        .mask_where::<TableShop>("name", where_open)
        .authorizer(no_owners);
    (database, App::serve(options).await)
}

async fn ask(app: &App, root: &str, most: i32, groups: &str) -> Value {
    let query = format!("{{ answer: {root} {{ {groups} }} }}");
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    let request = request.header("x-most", most.to_string());
    app.send(request.body(json!({ "query": query }).to_string()))
        .await
        .json()
}

#[tokio::test]
async fn group_keys_obey_policies_and_masks_of_the_related_row() {
    let (_database, app) = app().await;
    let groups = "groups(by: [SHOP__ID, SHOP__NAME]) { count key { shop { id name } } }";
    let group = |id: Option<i32>, name: Option<&str>, count: i32| json!({ "count": count, "key": { "shop": { "id": id, "name": name } } });
    for root in ["columns", "data", "table"] {
        for (most, expected) in [
            (
                3,
                vec![
                    group(Some(1), Some("adler"), 3),
                    group(Some(2), None, 3),
                    group(Some(3), Some("hidden"), 3),
                    group(None, None, 3),
                ],
            ),
            (
                2,
                vec![
                    group(Some(1), Some("adler"), 3),
                    group(Some(2), None, 3),
                    group(None, None, 6),
                ],
            ),
            (0, vec![group(None, None, 12)]),
        ] {
            let answer = ask(&app, root, most, groups).await;
            assert_eq!(
                answer,
                json!({ "data": { "answer": { "groups": expected } } }),
                "{root} {most}"
            );
        }
    }
}

#[tokio::test]
async fn group_keys_obey_gates_of_the_related_row() {
    let (database, app) = app().await;
    let telling = [
        "groups(by: [SHOP__OWNER]) { count }",
        "groups(by: [SHOP__OWNER]) { key { shop { owner } } }",
        "groups(by: [SHOP__ID], orderBy: [{key: {shop: {owner: ASC}}}]) { count }",
    ];
    for root in ["columns", "data", "table"] {
        for groups in telling {
            let answer = ask(&app, root, 3, groups).await;
            assert_eq!(
                answer["errors"][0]["extensions"]["code"], "FORBIDDEN",
                "{root} {groups}: {answer}"
            );
        }
    }
    let statements = [
        database.texts("c_sale").await,
        database.texts("d_sale").await,
        database.texts("tv_sale").await,
    ];
    assert!(
        statements
            .iter()
            .flatten()
            .all(|text| !text.contains("owner")),
        "{statements:?}"
    );
}
