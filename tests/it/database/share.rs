//! The connections that one request uses at the same time.

use std::time::Duration;

use serde_json::{Value, json};
use svc::prelude::*;
use svc::{DatabaseConfig, ProtectionConfig, sqlx};
use svc_tests::{App, Socket, TestDatabase, eventually};

/// A row that is read only while nobody holds the lock.
#[svc_type(sql_source = "v_held")]
struct Held {
    id: i32,
}

#[svc_type(sql_source = "v_open")]
struct Open {
    id: i32,
    #[relation(from = "id", to = "id")]
    related: Many<Held>,
}

#[svc_type]
impl Open {
    fn twice(&self) -> i32 {
        self.id * 2
    }

    async fn held(&self, ctx: &Context<'_>) -> Result<Option<Held>> {
        Ok(ctx.db().find::<Held>().await?.pop())
    }
}

#[svc::query]
async fn held() -> Vec<Held>;
#[svc::query]
async fn open() -> Vec<Open>;
#[svc::query]
async fn resolved(ctx: &Context<'_>) -> Result<Vec<Held>> {
    ctx.db().find::<Held>().await
}
#[svc::query]
async fn called(ctx: &Context<'_>) -> Result<i32> {
    ctx.db().call("app.wait", Vec::<Value>::new()).await
}

#[svc::mutation(function = "app.wait", atomic)]
async fn wait() -> Option<i32>;

const SQL: &str = "
CREATE SCHEMA app;
CREATE FUNCTION app.wait() RETURNS int LANGUAGE sql AS 'SELECT pg_advisory_xact_lock_shared(7); SELECT 1';
CREATE VIEW v_held AS SELECT app.wait() AS id;
CREATE VIEW v_open AS SELECT i AS id FROM generate_series(1, 12) AS i;";

async fn serve(database: DatabaseConfig) -> (TestDatabase, App) {
    let test = TestDatabase::new(SQL).await;
    // What waits does so until the test has seen all, however busy the machine is.
    let patience = Duration::from_secs(300);
    let (pool_timeout, query_timeout) = (patience, patience);
    let config = SvcConfig {
        database: DatabaseConfig {
            url: Some(test.url()),
            pool_size: 6,
            pool_timeout,
            query_timeout,
            ..database
        },
        request_timeout: Some(patience),
        protection: ProtectionConfig {
            batch_max: 8,
            ..ProtectionConfig::default()
        },
        ..SvcConfig::default()
    };
    let app = App::serve(
        AppOptions::new()
            .config(config)
            .queries(queries![held, open, resolved, called])
            .mutations(mutations![wait]),
    )
    .await;
    (test, app)
}

fn many(field: &str) -> String {
    let fields: String = (0..12).map(|alias| format!("a{alias}: {field} ")).collect();
    format!("{{ {fields} }}")
}

/// Sends a body that waits for the lock on as many connections as it may use; others are served,
/// and it gets its answer.
async fn holds(database: &TestDatabase, app: &App, body: Value, connections: i64) -> Value {
    held_by(
        database,
        app,
        async { app.post(&body).await.json() },
        connections,
    )
    .await
}

/// The same for whatever asks.
async fn held_by(
    database: &TestDatabase,
    app: &App,
    asking: impl Future<Output = Value>,
    connections: i64,
) -> Value {
    let pool = database.pool().await;
    let mut lock = pool.acquire().await.unwrap();
    sqlx::query("SELECT pg_advisory_lock(7)")
        .execute(&mut *lock)
        .await
        .unwrap();
    let others = async {
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'";
        eventually(async || {
            let count: i64 = sqlx::query_scalar(waiting).fetch_one(&pool).await.unwrap();
            if count == connections {
                Ok(())
            } else {
                Err(format!("{count} statements wait"))
            }
        })
        .await;
        // Whatever else it asks for waits for its own share.
        for _ in 0..20 {
            assert_eq!(
                app.query("{ open(limit: 1) { id } }").await.data(),
                json!({ "open": [{ "id": 1 }] })
            );
        }
        let count: i64 = sqlx::query_scalar(waiting).fetch_one(&pool).await.unwrap();
        assert_eq!(count, connections);
        sqlx::query("SELECT pg_advisory_unlock(7)")
            .execute(&mut *lock)
            .await
            .unwrap();
    };
    let (answer, ()) = tokio::join!(asking, others);
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn one_request_leaves_connections_for_others() {
    let (database, app) = serve(DatabaseConfig::default()).await;
    for (field, one) in [
        ("held { id }", json!([{ "id": 1 }])),
        ("resolved { id }", json!([{ "id": 1 }])),
        ("called", json!(1)),
    ] {
        let answer = holds(&database, &app, json!({ "query": many(field) }), 3).await;
        let all: Vec<&Value> = answer["data"].as_object().unwrap().values().collect();
        assert_eq!(all, vec![&one; 12], "{field}: {answer}");
    }
    let answer = holds(
        &database,
        &app,
        json!({ "query": "{ open { held { id } } }" }),
        3,
    )
    .await;
    assert_eq!(
        answer,
        json!({ "data": { "open": vec![json!({ "held": { "id": 1 } }); 12] } })
    );
}

/// A method needs whole rows, so each relation is read with a separate statement.
#[tokio::test(flavor = "multi_thread")]
async fn relations_beside_a_method_share_the_connections_of_one_request() {
    let (database, app) = serve(DatabaseConfig::default()).await;
    let document = format!(
        "{{ open(limit: 1) {{ twice ...All }} }} fragment All on Open {}",
        many("related { id }")
    );
    let answer = holds(&database, &app, json!({ "query": document }), 3).await;
    let open = &answer["data"]["open"][0];
    assert_eq!(open["twice"], 2, "{answer}");
    for alias in 0..12 {
        assert_eq!(open[format!("a{alias}")], json!([{ "id": 1 }]), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_shares_the_connections_of_one_request() {
    let (database, app) = serve(DatabaseConfig::default()).await;
    let answer = holds(
        &database,
        &app,
        Value::from(vec![json!({ "query": "{ held { id } }" }); 8]),
        3,
    )
    .await;
    assert_eq!(
        answer,
        Value::from(vec![json!({ "data": { "held": [{ "id": 1 }] } }); 8])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn transactions_of_a_batch_share_the_connections_of_one_request() {
    let (database, app) = serve(DatabaseConfig::default()).await;
    let operation = json!({ "query": "mutation @atomic { wait }" });
    let answer = holds(&database, &app, Value::from(vec![operation; 8]), 3).await;
    assert_eq!(
        answer,
        Value::from(vec![json!({ "data": { "wait": 1 } }); 8])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_of_a_socket_share_the_connections_of_one_request() {
    let (database, app) = serve(DatabaseConfig::default()).await;
    let mut socket = Socket::ready(&app).await;
    let asking = async {
        for id in 0..10 {
            socket.subscribe(&id.to_string(), "{ held { id } }").await;
        }
        let mut answers = Vec::new();
        while answers.len() < 10 {
            let message = socket.next().await;
            if message["type"] == "next" {
                answers.push(message["payload"]["data"]["held"][0]["id"].clone());
            }
        }
        Value::from(answers)
    };
    assert_eq!(
        held_by(&database, &app, asking, 3).await,
        json!(vec![1; 10])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setting_limits_the_connections_of_a_request() {
    let (database, app) = serve(DatabaseConfig {
        request_connections: Some(1),
        ..DatabaseConfig::default()
    })
    .await;
    let answer = holds(&database, &app, json!({ "query": many("held { id }") }), 1).await;
    assert_eq!(answer["data"]["a11"], json!([{ "id": 1 }]));
    let (database, app) = serve(DatabaseConfig {
        request_connections: Some(5),
        ..DatabaseConfig::default()
    })
    .await;
    holds(&database, &app, json!({ "query": many("held { id }") }), 5).await;
}
