//! Requests of many tenants at once share plans, statements and few connections, and never a row.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc::prelude::*;
use svc::{DatabaseConfig, Limits, ProtectionConfig};
use svc_tests::App;

use super::service::{database, of_tenant, options};

/// Tenants `t0` to `t199`, each with its own posts.
const ROWS: &str = "
INSERT INTO tb_user SELECT n, 'user ' || n, 't' || n % 200 FROM generate_series(1, 400) n;
INSERT INTO tb_post SELECT n, 'post ' || n, 't' || n % 200, n / 200, n % 2 = 0,
  n % 400 + (n % 7) / 6 FROM generate_series(1, 4000) n;";

const READ: &str = "query ($most: Int!) { posts(where: {score: {lte: $most}}, limit: 50) { tenant author { tenant } }
    users { tenant posts(limit: 3) { tenant } } page(first: 2) { totalCount nodes { tenant } } totals { count } }";

async fn ask(app: &App, tenant: &str, most: usize) -> Value {
    let body = json!({ "query": READ, "variables": { "most": most } }).to_string();
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    app.send(request.header("x-tenant", tenant).body(body))
        .await
        .json()
}

/// All values of `tenant` in an answer.
fn tenants(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(
                fields
                    .get("tenant")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            );
            fields.values().for_each(|value| tenants(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| tenants(item, found)),
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_concurrent_tenants_never_share_a_row() {
    let database = database(ROWS).await;
    // All of them wait for their turn, however slow the machine is.
    let patience = Duration::from_secs(300);
    let pool = DatabaseConfig {
        url: Some(database.url()),
        pool_size: 4,
        pool_timeout: patience,
        ..DatabaseConfig::default()
    };
    let limits = Limits {
        complexity: u64::MAX,
        ..Limits::default()
    };
    let protection = ProtectionConfig {
        load_shedding: false,
        ..ProtectionConfig::default()
    };
    let config = SvcConfig {
        database: pool,
        limits,
        protection,
        request_timeout: None,
        ..SvcConfig::default()
    };
    let app = App::serve(
        options("columns", &database, Some(of_tenant))
            .config(config)
            .auto_camel_case(true),
    )
    .await;
    for round in 0..3 {
        let asked = (0..200).map(|n| {
            let app = &app;
            async move {
                let tenant = format!("t{n}");
                let answer = ask(app, &tenant, 10 + round * 20).await;
                let mut found = Vec::new();
                tenants(&answer["data"], &mut found);
                assert!(found.len() > 10, "{tenant}: {answer}");
                assert!(
                    found.iter().all(|other| *other == tenant),
                    "{tenant}: {answer}"
                );
                assert_eq!(
                    answer["data"]["totals"]["count"],
                    json!(20),
                    "{tenant}: {answer}"
                );
            }
        });
        join_all(asked).await;
    }
}
