//! Loaders that request data makes: the keys of many rows in one call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::json;
use svc::async_graphql::dataloader::{DataLoader, Loader};
use svc::db::{Db, SessionVariables};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

/// The keys of each call.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<usize>>>);

/// Names of units, with the language of the session before them.
struct Units(Db, Calls);

#[svc_type(sql_source = "v_unit")]
#[derive(Clone)]
struct Unit {
    id: String,
    name: String,
}

impl Loader<String> for Units {
    type Value = Unit;
    type Error = Arc<Error>;

    async fn load(&self, codes: &[String]) -> Result<HashMap<String, Unit>, Arc<Error>> {
        self.1.0.lock().unwrap().push(codes.len());
        let rows = self
            .0
            .find::<Unit>()
            .filter(col("id").is_in(codes.to_vec()))
            .await;
        Ok(rows
            .map_err(Arc::new)?
            .into_iter()
            .map(|unit| (unit.id.clone(), unit))
            .collect())
    }
}

#[derive(Default)]
struct Loaders(OnceLock<DataLoader<Units>>);

#[svc_type(sql_source = "v_amount")]
struct Amount {
    id: i32,
    unit_code: String,
}

#[svc_type]
impl Amount {
    async fn unit(&self, ctx: &Context<'_>) -> Result<Option<Unit>> {
        let calls = ctx.data::<Calls>()?.clone();
        let loader = ctx.data::<Loaders>()?;
        let loader = loader
            .0
            .get_or_init(|| DataLoader::new(Units(ctx.db().clone(), calls), tokio::spawn));
        loader
            .load_one(self.unit_code.clone())
            .await
            .map_err(|error| Error::internal(error.chain()))
    }
}

#[svc::query]
async fn amounts() -> Vec<Amount>;

const SQL: &str = "CREATE VIEW v_unit AS SELECT code AS id, current_setting('app.language') || ':' || code AS name
        FROM (VALUES ('kg'), ('m')) AS u (code);
    CREATE VIEW v_amount AS SELECT id, CASE id % 3 WHEN 0 THEN 'kg' WHEN 1 THEN 'm' ELSE 'x' END AS unit_code
        FROM generate_series(1, 9) AS id";

#[tokio::test]
async fn many_rows_are_one_call_with_the_variables_of_the_request() {
    let database = TestDatabase::new(SQL).await;
    let calls = Calls::default();
    let options = AppOptions::new()
        .database_url(database.url())
        .queries(queries![amounts])
        .session_variables(SessionVariables::new().header("app.language", "x-language"))
        .data(calls.clone())
        .request_data(|_| async { Ok(Loaders::default()) });
    let app = App::serve(options).await;
    for language in ["de", "en"] {
        let body = json!({ "query": "{ amounts(limit: 3) { unit { name } } }" }).to_string();
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json");
        let answer = app
            .send(request.header("x-language", language).body(body))
            .await
            .data();
        let name = |code: &str| json!({ "unit": { "name": format!("{language}:{code}") } });
        assert_eq!(
            answer["amounts"],
            json!([name("m"), { "unit": null }, name("kg")])
        );
    }
    assert_eq!(*calls.0.lock().unwrap(), [3, 3]);
}
