//! Batch methods behind guards, checks and row policies: they get only the objects whose field the
//! client may read.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase, without_error_ids};

use super::principals::{ask_as, serve};

#[svc_type(sql_source = "v_product")]
struct Product {
    id: i32,
    note: Option<String>,
}

/// The ids of the objects of each call.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<Vec<i32>>>>);

impl Calls {
    fn note(ctx: &Context<'_>, products: &[&Product]) -> Result<()> {
        let mut ids: Vec<i32> = products.iter().map(|product| product.id).collect();
        ids.sort_unstable();
        ctx.data::<Self>()?.0.lock().unwrap().push(ids);
        Ok(())
    }

    /// Takes the calls since the last time.
    fn take(&self) -> Vec<Vec<i32>> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Each batch method has a method with the same behavior that is called for each object.
#[svc_type]
impl Product {
    #[svc(batch)]
    async fn stock(products: &[&Self], ctx: &Context<'_>) -> Result<Vec<i32>> {
        Calls::note(ctx, products)?;
        Ok(products.iter().map(|product| product.id * 10).collect())
    }

    async fn stock_one(&self) -> i32 {
        self.id * 10
    }

    #[svc(batch)]
    #[svc::requires_permission("products:cost")]
    async fn cost(products: &[&Self], ctx: &Context<'_>) -> Result<Vec<Option<i32>>> {
        Calls::note(ctx, products)?;
        Ok(products.iter().map(|product| Some(product.id)).collect())
    }

    #[svc::requires_permission("products:cost")]
    async fn cost_one(&self) -> Option<i32> {
        Some(self.id)
    }

    #[svc::requires_permission("products:cost")]
    fn margin(&self) -> i32 {
        self.id
    }

    /// The note, as the method sees it.
    #[svc(batch)]
    async fn seen(products: &[&Self], ctx: &Context<'_>) -> Result<Vec<Option<String>>> {
        Calls::note(ctx, products)?;
        Ok(products
            .iter()
            .map(|product| product.note.clone())
            .collect())
    }

    async fn seen_one(&self) -> Option<String> {
        self.note.clone()
    }

    #[svc::authorize_field(is_even)]
    #[svc(batch)]
    async fn supplier(products: &[&Self], ctx: &Context<'_>) -> Result<Vec<Option<String>>> {
        Calls::note(ctx, products)?;
        let supplier = |product: &&Self| Some(format!("supplier of {}", product.id));
        Ok(products.iter().map(supplier).collect())
    }

    #[svc::authorize_field(is_even)]
    async fn supplier_one(&self) -> Option<String> {
        Some(format!("supplier of {}", self.id))
    }
}

async fn is_even(product: &Product, _: AuthorizationRequest) -> bool {
    tokio::task::yield_now().await;
    product.id % 2 == 0
}

#[svc::query]
async fn products() -> Vec<Product>;

const SQL: &str = "CREATE VIEW v_product AS SELECT n AS id, 'note ' || n AS note FROM generate_series(1, 9) AS n;";

/// Serves the application; clients read the first six rows, and the notes of the first three.
async fn service() -> (App, Calls) {
    let url = TestDatabase::shared("guarded_batch_methods", SQL).await;
    let calls = Calls::default();
    let options = AppOptions::new()
        .database_url(url)
        .queries(queries![products])
        .data(calls.clone())
        .row_policy::<Product>(|_| {
            let visible: Vec<i32> = (1..=6).collect();
            Ok(RowDecision::allow_where(col("id").is_in(visible)))
        })
        .mask_where::<Product>("note", |_| {
            let visible: Vec<i32> = (1..=3).collect();
            Ok(RowDecision::allow_where(col("id").is_in(visible)))
        });
    (serve(options).await, calls)
}

/// The answer to a field, which must be that to the method of each object.
async fn ask(app: &App, user: &str, field: &str) -> Value {
    let answer = async |field: &str| {
        let document = format!("{{ products {{ id value: {field} }} }}");
        ask_as(app, "/graphql", user, &document, &json!({})).await
    };
    let (batch, single) = (answer(field).await, answer(&format!("{field}_one")).await);
    assert_eq!(
        without_error_ids(&batch.to_string()),
        without_error_ids(&single.to_string()).replace("_one", ""),
        "{field}"
    );
    batch
}

/// The ids whose field is not null.
fn given(answer: &Value) -> Vec<i64> {
    let products = answer["data"]["products"].as_array().unwrap();
    let mut ids: Vec<i64> = products
        .iter()
        .filter(|product| !product["value"].is_null())
        .map(|product| product["id"].as_i64().unwrap())
        .collect();
    ids.sort_unstable();
    ids
}

#[tokio::test]
async fn a_batch_has_the_rows_of_the_row_policy() {
    let (app, calls) = service().await;
    let answer = ask(&app, "", "stock").await;
    assert_eq!(given(&answer), [1, 2, 3, 4, 5, 6]);
    assert_eq!(calls.take(), [[1, 2, 3, 4, 5, 6]]);
}

#[tokio::test]
async fn a_guarded_batch_is_not_called_without_the_permission() {
    let (app, calls) = service().await;
    for user in ["", "ada", "ada;;products:read"] {
        let answer = ask(&app, user, "cost").await;
        assert!(answer["errors"].is_array(), "{user}: {answer}");
        assert!(given(&answer).is_empty(), "{user}: {answer}");
        assert!(calls.take().is_empty(), "{user}");
    }
    let answer = ask(&app, "ada;;products:cost", "cost").await;
    assert_eq!(given(&answer), [1, 2, 3, 4, 5, 6]);
    assert_eq!(calls.take(), [[1, 2, 3, 4, 5, 6]]);
}

#[tokio::test]
async fn a_checked_batch_gets_only_the_objects_that_the_check_allows() {
    let (app, calls) = service().await;
    let answer = ask(&app, "ada", "supplier").await;
    assert_eq!(given(&answer), [2, 4, 6]);
    assert_eq!(answer["errors"].as_array().unwrap().len(), 3, "{answer}");
    assert_eq!(calls.take(), [[2, 4, 6]]);
}

#[tokio::test]
async fn a_batch_gets_masked_values_as_null() {
    let (app, calls) = service().await;
    let answer = ask(&app, "", "seen").await;
    assert_eq!(given(&answer), [1, 2, 3]);
    assert!(answer["errors"].is_null(), "{answer}");
    assert_eq!(calls.take(), [[1, 2, 3, 4, 5, 6]]);
}

#[tokio::test]
async fn a_batch_is_called_beside_a_denied_field() {
    let (app, calls) = service().await;
    let ask = async |document: &str| ask_as(&app, "/graphql", "ada", document, &json!({})).await;
    let answer = ask("{ products { id stock cost cost_one } }").await;
    let products = answer["data"]["products"].as_array().unwrap();
    assert_eq!(products.len(), 6, "{answer}");
    for product in products {
        let stock = product["id"].as_i64().unwrap() * 10;
        assert_eq!(product["stock"], stock, "{answer}");
        assert!(product["cost"].is_null() && product["cost_one"].is_null());
    }
    assert_eq!(answer["errors"].as_array().unwrap().len(), 12, "{answer}");
    assert_eq!(calls.take(), [[1, 2, 3, 4, 5, 6]]);

    // The denial of a non-null field leaves no objects.
    let answer = ask("{ products { id stock margin } }").await;
    assert!(answer["data"].is_null(), "{answer}");
    let errors = answer["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 1, "{answer}");
    assert_eq!(errors[0]["path"], json!(["products", 0, "margin"]));
}
