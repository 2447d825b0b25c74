//! One meaning: random documents have the same `data`, byte for byte, whichever way they are
//! answered.

mod documents;

use futures_util::future::join_all;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use svc::db::AssertSqlSafe;
use svc::prelude::*;
use svc::{Operation, OperationRegistry};
use svc_tests::{App, TestDatabase, cases, seed};

use documents::Generator;

/// The heat of a day.
#[svc_enum]
#[derive(Debug, Clone, Copy)]
enum Heat {
    #[svc(stored = "hot")]
    Hot,
    #[svc(stored = "cold")]
    Cold,
}

#[svc_type]
struct Place {
    city: String,
    zip: Option<String>,
    /// More digits than a double has.
    rent: Decimal,
}

#[svc_type(sql_source = "v_day")]
struct Day {
    id: Uuid,
    label: Option<String>,
    heat: Heat,
    degrees: f64,
    total: i64,
    exact: Decimal,
    at: DateTime<Utc>,
    /// In years of more than four digits, or before the first.
    far: DateTime<Utc>,
    founded: NaiveDate,
    notes: Option<Box<RawValue>>,
    place: Place,
    #[relation]
    hours: Many<Hour>,
    #[relation(from = "next_id")]
    next: Option<One<Day>>,
}

#[svc_type(sql_source = "v_hour")]
struct Hour {
    id: i32,
    note: Option<String>,
    #[relation]
    day: One<Day>,
}

/// Fields without a body.
mod planned {
    use super::*;

    #[svc::query]
    pub(super) async fn days() -> Vec<Day>;
    #[svc::query]
    pub(super) async fn hours() -> Vec<Hour>;
}

/// Resolvers that return the query.
mod returned {
    use super::*;

    #[svc::query]
    pub(super) async fn days(
        ctx: &Context<'_>,
        r#where: Option<Where<Day>>,
        order_by: Option<OrderBy<Day>>,
        page: Page,
    ) -> Result<Find<Day>> {
        Ok(ctx
            .db()
            .find::<Day>()
            .apply_where(r#where)
            .apply_order_by(order_by)
            .page(page))
    }
    #[svc::query]
    pub(super) async fn hours(
        ctx: &Context<'_>,
        r#where: Option<Where<Hour>>,
        order_by: Option<OrderBy<Hour>>,
        page: Page,
    ) -> Result<Find<Hour>> {
        Ok(ctx
            .db()
            .find::<Hour>()
            .apply_where(r#where)
            .apply_order_by(order_by)
            .page(page))
    }
}

/// Resolvers that return values, whose relations start from the values.
mod awaited {
    use super::*;

    #[svc::query]
    pub(super) async fn days(
        ctx: &Context<'_>,
        r#where: Option<Where<Day>>,
        order_by: Option<OrderBy<Day>>,
        page: Page,
    ) -> Result<Vec<Day>> {
        ctx.db()
            .find::<Day>()
            .apply_where(r#where)
            .apply_order_by(order_by)
            .page(page)
            .await
    }
    #[svc::query]
    pub(super) async fn hours(
        ctx: &Context<'_>,
        r#where: Option<Where<Hour>>,
        order_by: Option<OrderBy<Hour>>,
        page: Page,
    ) -> Result<Vec<Hour>> {
        ctx.db()
            .find::<Hour>()
            .apply_where(r#where)
            .apply_order_by(order_by)
            .page(page)
            .await
    }
}

/// Functions that must not run.
mod failing {
    use super::*;

    #[svc::query]
    pub(super) async fn days(
        r#where: Option<Where<Day>>,
        order_by: Option<OrderBy<Day>>,
        page: Page,
    ) -> Result<Vec<Day>> {
        let _ = (r#where, order_by, page);
        Err(Error::internal("this must not run"))
    }
    #[svc::query]
    pub(super) async fn hours(
        r#where: Option<Where<Hour>>,
        order_by: Option<OrderBy<Hour>>,
        page: Page,
    ) -> Result<Vec<Hour>> {
        let _ = (r#where, order_by, page);
        Err(Error::internal("this must not run"))
    }
}

const SQL: &str = r#"
CREATE TABLE tb_day AS SELECT md5(n::text)::uuid AS id, CASE WHEN n % 3 > 0 THEN 'day "' || n || E'"\n\\ü' END AS label,
  CASE WHEN n % 2 = 0 THEN 'hot' ELSE 'cold' END AS heat, n * 1.5e10::float8 / 7 AS degrees, 9007199254740990 + n AS total,
  n * 0.10 AS exact, '2024-02-29T23:59:59.5Z'::timestamptz + n * interval '1 day 1 us' AS at,
  ('2024-02-29T23:59:59.25Z'::timestamptz + (ARRAY[-3000, 0, 18000])[n % 3 + 1] * interval '1 year') AT TIME ZONE 'UTC' AS far,
  '0002-06-01'::date + (n - 5) * 400 AS founded,
  CASE WHEN n < 9 THEN md5((n + 1)::text)::uuid END AS next_id FROM generate_series(1, 9) n;
CREATE TABLE tb_hour AS SELECT n AS id, CASE WHEN n % 4 > 0 THEN 'note ' || n END AS note, md5((n % 9 + 1)::text)::uuid AS day_id
  FROM generate_series(1, 15) n;
-- A column for some fields, the rest in `data`.
CREATE VIEW v_day AS SELECT id, label, heat, degrees, at, next_id, far, jsonb_build_object('total', total, 'exact', exact,
  'founded', founded, 'notes', format('{"fine": 0.1234567890123456789%s, "huge": 1e400, "n": [1.50, "ü\""]}', total)::jsonb,
  'place', jsonb_build_object('city', 'city ' || total % 3, 'zip', nullif(total % 4, 1)::text,
    'rent', exact * 0.1234567890123456789012345)) AS data FROM tb_day;
CREATE VIEW v_hour AS SELECT to_jsonb(h) AS data FROM tb_hour h;
-- Without statistics PostgreSQL takes the tables for large ones, and compiles each statement.
ANALYZE tb_day, tb_hour;
"#;

async fn send(app: &App, path: &str, body: Value) -> String {
    let request = app
        .request("POST", path)
        .header("content-type", "application/json")
        .body(body.to_string());
    app.send(request).await.text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_execution_path_gives_the_same_bytes() {
    let (seed, rounds) = (
        seed("EQUIVALENCE_SEED", 11),
        cases("EQUIVALENCE_DOCUMENTS", 100, 300),
    );
    let mut generator = Generator::new(seed);
    let database = TestDatabase::new(SQL).await.uncounted().await;
    let options = || {
        let config = SvcConfig {
            operations: svc::OperationsConfig {
                rust_endpoint: true,
                ..svc::OperationsConfig::default()
            },
            schema: svc::SchemaConfig {
                auto_camel_case: true,
                ..svc::SchemaConfig::default()
            },
            ..SvcConfig::default()
        };
        let limits = svc::Limits {
            complexity: 1_000_000,
            aliases: 1_000,
            comparisons: 1_000,
            ..svc::Limits::default()
        };
        AppOptions::new()
            .config(config)
            .limits(limits)
            .database_url(database.url())
    };
    let planned = App::serve(options().queries(queries![planned::days, planned::hours])).await;
    let returned = App::serve(options().queries(queries![returned::days, returned::hours])).await;
    let awaited = App::serve(options().queries(queries![awaited::days, awaited::hours])).await;
    let registry = OperationRegistry::new();
    let only = options()
        .queries(queries![planned::days, planned::hours])
        .registered_only(true);
    let registered = App::serve(only.operation_registry(registry.clone())).await;
    let with_sql = OperationRegistry::new();
    let failing = options().queries(queries![failing::days, failing::hours]);
    let cached = App::serve(failing.operation_registry(with_sql.clone())).await;
    let mut answered_by_sql = 0;
    for round in 0..rounds {
        let (query, sql) = generator.document();
        let body = json!({ "query": query });
        let expected = send(&planned, "/graphql", body.clone()).await;
        assert!(
            expected.starts_with("{\"data\":"),
            "seed {seed}, round {round}: {query}\n{expected}"
        );
        let hash = hex::encode(Sha256::digest(&query));
        let persisted = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
        send(
            &planned,
            "/graphql",
            json!({ "query": query, "extensions": persisted }),
        )
        .await;
        registry.register(Operation::new(&query)).unwrap();
        if let Some(sql) = sql {
            let operation = Operation::new(&query).sql(AssertSqlSafe(&sql));
            with_sql.register(operation).unwrap();
            let answer = send(
                &cached,
                "/graphql",
                json!({ "documentId": format!("sha256:{hash}") }),
            )
            .await;
            assert_eq!(
                answer, expected,
                "cached SQL, seed {seed}, round {round}: {query}\n{sql}"
            );
            answered_by_sql += 1;
        }
        let by_hash = json!({ "extensions": persisted });
        let ways = [
            ("/graphql/rust", &planned, "/graphql/rust", &body),
            ("a persisted query", &planned, "/graphql", &by_hash),
            ("a registered operation", &registered, "/graphql", &by_hash),
            (
                "a resolver that returns the query",
                &returned,
                "/graphql",
                &body,
            ),
            (
                "a resolver that returns values",
                &awaited,
                "/graphql",
                &body,
            ),
        ];
        let answers =
            ways.map(
                |(way, app, path, body)| async move { (way, send(app, path, body.clone()).await) },
            );
        for (way, answer) in join_all(answers).await {
            assert_eq!(
                answer, expected,
                "{way}, seed {seed}, round {round}: {query}"
            );
        }
    }
    assert!(
        answered_by_sql * 3 > rounds * 2,
        "SQL was written for {answered_by_sql} of {rounds} documents"
    );
}
