//! Pages and aggregates of children in what mutations, events and registered operations answer
//! with.

use std::time::Duration;

use serde_json::{Value, json};
use svc::Operation;
use svc::prelude::*;
use svc::testing::{Subscription, TestService};
use svc_tests::{App, eventually};
use tokio::time::timeout;

use super::{KINDS, Shop};

/// The other ways to products, over views of one kind.
macro_rules! ways {
    ($kind:ident) => {
        mod $kind {
            use super::super::$kind::{Product, product};
            use super::*;

            #[svc_result]
            pub(super) enum TouchResult {
                Success { product: Product },
                Error { clash: Option<Product> },
            }

            #[svc_input]
            pub(super) struct ProductName {
                name: String,
            }

            #[svc::mutation(function = "touch")]
            async fn touch(id: i32) -> Product;
            #[svc::mutation(function = "touch_whole")]
            async fn touch_whole(id: i32) -> Product;
            #[svc::mutation(function = "touch_all")]
            async fn touch_all() -> Vec<Product>;
            #[svc::mutation(function = "touch_result")]
            async fn touch_result(id: i32, status: String) -> TouchResult;
            #[svc::mutation(update = "tb_product")]
            async fn rename(id: i32, input: ProductName) -> Product;
            #[svc::mutation]
            async fn found(ctx: &Context<'_>, id: i32) -> Result<Product> {
                ctx.db()
                    .find_one::<Product>()
                    .filter(col("id").eq(id))
                    .await?
                    .ok_or_else(|| Error::new(ErrorCode::NotFound, "none"))
            }
            #[svc::subscription(channel = "product_changed")]
            async fn changed() -> Product;

            pub(super) fn add(options: AppOptions) -> AppOptions {
                let mutations =
                    mutations![touch, touch_whole, touch_all, touch_result, rename, found];
                options.mutations(mutations)
            }

            pub(super) fn with_events(options: AppOptions) -> AppOptions {
                options
                    .queries(queries![product])
                    .subscriptions(subscriptions![changed])
            }
        }
    };
}

ways!(columns);
ways!(data);
ways!(table);

/// An answer of a function is the key of a product, a product, all their keys, or a response.
const FUNCTIONS: &str = "
    CREATE FUNCTION touch(id int) RETURNS int LANGUAGE sql AS 'SELECT id';
    CREATE FUNCTION touch_whole(id int) RETURNS jsonb LANGUAGE sql
        AS $$ SELECT jsonb_build_object('id', id, 'name', 'whole', 'price', 1) $$;
    CREATE FUNCTION touch_all() RETURNS SETOF int LANGUAGE sql AS 'SELECT id FROM tb_product ORDER BY id';
    CREATE FUNCTION touch_result(id int, status text) RETURNS jsonb LANGUAGE sql
        AS $$ SELECT jsonb_build_object('status', status, 'entity_id', id::text) $$;";

const CHILDREN: &str = "{ id
    reviewsConnection(first: 2, orderBy: [{stars: DESC}, {id: ASC}]) {
      totalCount nodes { id stars loud } edges { cursor } pageInfo { hasNextPage } }
    best: reviewsConnection(first: 1, where: {stars: {gt: 3}}, orderBy: [{id: DESC}]) { nodes { id product { id } } }
    reviewsAggregate { count avg { stars } groups(by: [STARS]) { key { stars } count } }
    categoriesAggregate { count } }";

async fn shop() -> Shop {
    let of_kind = |kind: &str, options: AppOptions| match kind {
        "columns" => columns::add(options),
        "data" => data::add(options),
        _ => table::add(options),
    };
    let shop = Shop::with(of_kind).await;
    shop.database.execute(FUNCTIONS).await;
    shop
}

/// The children of a product, as the query has them.
async fn expected(shop: &Shop, id: i32) -> Value {
    let answer = shop
        .same(&format!("{{ product(id: {id}) {CHILDREN} }}"))
        .await["product"]
        .clone();
    assert_eq!(answer["id"], id);
    answer
}

#[tokio::test]
async fn mutations_answer_with_children_as_queries_do() {
    let shop = shop().await;
    for id in [1, 2, 4] {
        let product = expected(&shop, id).await;
        for call in [
            format!("touch(id: {id})"),
            format!("touchWhole(id: {id})"),
            format!("rename(id: {id}, input: {{name: \"new\"}})"),
            format!("found(id: {id})"),
        ] {
            let answer = shop
                .same(&format!("mutation {{ answer: {call} {CHILDREN} }}"))
                .await;
            assert_eq!(answer["answer"], product, "{call}");
        }
        for (status, member, field) in [
            ("ok", "TouchSuccess", "product"),
            ("conflict:name", "TouchError", "clash"),
        ] {
            let query = format!(
                "mutation {{ answer: touchResult(id: {id}, status: \"{status}\") {{ ... on {member} {{ {field} {CHILDREN} }} }} }}"
            );
            assert_eq!(
                shop.same(&query).await["answer"],
                json!({ field: product }),
                "{status}"
            );
        }
    }
    let all = shop
        .same(&format!("mutation {{ touchAll {CHILDREN} }}"))
        .await;
    assert_eq!(all["touchAll"][0], expected(&shop, 1).await);
    assert_eq!(all["touchAll"][3], expected(&shop, 4).await);
}

#[tokio::test]
async fn rows_of_events_have_children() {
    let shop = Shop::open().await;
    let product = expected(&shop, 1).await;
    for kind in KINDS {
        let options = AppOptions::new()
            .database_url(shop.database.url())
            .auto_camel_case(true);
        let service = TestService::start(match kind {
            "columns" => columns::with_events(options),
            "data" => data::with_events(options),
            _ => table::with_events(options),
        });
        let service = service.await.unwrap();
        let document = format!("subscription {{ changed {CHILDREN} }}");
        // A busy machine may take longer to listen than a subscriber waits.
        let mut answers = eventually(async || {
            service
                .subscribe(Subscription::new(document.as_str()))
                .await
                .map_err(|refused| refused.to_string())
        })
        .await;
        for _ in 0..2 {
            shop.database
                .execute("SELECT pg_notify('product_changed', '{\"id\": 1}')")
                .await;
            let answer = timeout(Duration::from_secs(120), answers.next())
                .await
                .unwrap()
                .unwrap();
            assert_eq!(answer, json!({"data": {"changed": product}}), "{kind}");
        }
    }
}

#[tokio::test]
async fn registered_operations_have_children() {
    let planned = format!("query Planned {{ product(id: 1) {CHILDREN} }}");
    let own = "query Own { product(id: 1) { id page: reviewsConnection(first: 1) { totalCount nodes { id } }
               reviewsAggregate { count avg { stars } } } }";
    let sql = "SELECT jsonb_build_object('id', p.id,
          'page', jsonb_build_object('totalCount', r.count, 'nodes', jsonb_build_array(jsonb_build_object('id', r.first))),
          'reviewsAggregate', jsonb_build_object('count', r.count, 'avg', jsonb_build_object('stars', r.stars))) AS product
        FROM tb_product p, LATERAL (
          SELECT count(*), min(r.id) AS first, avg(r.stars) AS stars FROM tb_review r WHERE r.product_id = p.id) r
        WHERE p.id = 1";
    let shop = Shop::with(|_, options| {
        options.operations([
            Operation::new(planned.as_str()),
            Operation::new(own).sql(sql),
        ])
    })
    .await;
    let product = expected(&shop, 1).await;
    let (_, body) = own.split_once("Own").unwrap();
    let by_query = shop.same(&format!("query {body}")).await;
    for app in &shop.apps {
        for _ in 0..2 {
            assert_eq!(by_id(app, "Planned").await, json!({"product": product}));
            assert_eq!(by_id(app, "Own").await, by_query);
        }
    }
}

async fn by_id(app: &App, id: &str) -> Value {
    app.post(&json!({ "documentId": id })).await.data()
}
