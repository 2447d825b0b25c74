//! The service of these tests: things in a shop.

use svc::authz::AuthorizationCacheConfig;
use svc::axum::Router;
use svc::axum::routing::get;
use svc::futures_util::stream;
use svc::prelude::*;
use svc::{MetricsConfig, Operation, ResponseCache, create_svc_app, setup_metrics};
use svc_tests::TestDatabase;

const SQL: &str = "
    CREATE TABLE tb_thing (id integer PRIMARY KEY, name text NOT NULL);
    INSERT INTO tb_thing SELECT n, 'thing ' || n FROM generate_series(1, 20) AS n;
    CREATE VIEW v_thing AS SELECT id, name, '{}'::jsonb AS data FROM tb_thing;
    CREATE TYPE mutation_response AS (
        status text, message text, entity_id text, entity_type text, entity jsonb,
        updated_fields text[], cascade jsonb, metadata jsonb
    );
    CREATE FUNCTION fn_add_thing(input jsonb) RETURNS mutation_response LANGUAGE plpgsql AS $$
    DECLARE response mutation_response;
    BEGIN
        IF EXISTS (SELECT FROM tb_thing WHERE id = (input->>'id')::integer) THEN
            response.status := 'conflict:thing';
            response.message := 'there is such a thing';
            RETURN response;
        END IF;
        INSERT INTO tb_thing VALUES ((input->>'id')::integer, input->>'name');
        response.status := 'created';
        response.entity_id := input->>'id';
        RETURN response;
    END $$;";

/// The SQL of a registered operation.
const ONE_THING: &str = "SELECT jsonb_build_array(jsonb_build_object('name', name)) AS things FROM v_thing WHERE id = 1";

/// A thing.
#[svc_type(sql_source = "v_thing")]
struct Thing {
    id: i32,
    name: String,
}

#[svc::query]
async fn things() -> Vec<Thing>;

#[svc::query]
fn broken() -> Result<Option<i32>> {
    Err(Error::with_code("OUT_OF_STOCK", "there is none left"))
}

/// Never answers.
#[svc::query]
async fn endless() -> bool {
    std::future::pending().await
}

#[svc::query(cache = 60)]
fn double(of: i32) -> i32 {
    2 * of
}

#[svc::subscription]
fn ticks() -> impl Stream<Item = i32> {
    stream::iter([1, 2])
}

#[svc_input]
struct NewThing {
    id: i32,
    name: String,
}

#[svc_result]
enum AddThingResult {
    Success { thing: Thing },
    Error,
}

#[svc::mutation(function = "fn_add_thing", atomic)]
async fn add_thing(input: NewThing) -> AddThingResult;

#[svc::mutation(atomic)]
fn fail() -> Result<bool> {
    Err(Error::new(ErrorCode::Conflict, "not now"))
}

/// The service, which counts; with a route of the program's own.
pub(super) async fn shop(
    database: &TestDatabase,
    config: SvcConfig,
    metrics: MetricsConfig,
) -> Router {
    let cache = AuthorizationCacheConfig::new(|ctx| ctx.header("x-user").map(str::to_owned));
    let options = AppOptions::new()
        .config(config)
        .database_url(database.url())
        .queries(queries![things, broken, endless, double])
        .mutations(mutations![add_thing, fail])
        .subscriptions(subscriptions![ticks])
        .operations([
            Operation::new("query registeredThings { things(limit: 1) { id } }"),
            Operation::new("query oneThing { things(limit: 1) { name } }").sql(ONE_THING),
        ])
        .response_cache(ResponseCache::new())
        .authorizer(async |_: AuthorizationRequest| true)
        .authorization_cache(cache);
    let app = create_svc_app(options)
        .await
        .unwrap()
        .route("/report", get(|| async { "all is well" }));
    setup_metrics(app, metrics).unwrap()
}

/// A database with things.
pub(super) async fn things_database() -> TestDatabase {
    TestDatabase::new(SQL).await
}
