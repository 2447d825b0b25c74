//! Checks of fields look at the object, wherever it comes from, and nothing is learnt without them.

mod decisions;
mod objects;
mod schema;
mod ways;

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use svc::OperationsConfig;
use svc::authz::{any_permission, field_authorizer_adapter};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

use super::principals::ask_as;

#[svc_interface(fields(id: i32, email: Option<String>), sql_source = "v_being")]
enum Being {
    Person(Person),
    Robot(Robot),
}

#[svc_type(sql_source = "v_robot")]
struct Robot {
    id: i32,
    email: Option<String>,
}

#[svc_type(sql_source = "v_person")]
struct Person {
    id: i32,
    name: String,
    #[svc::authorize_field(is_oneself)]
    email: Option<String>,
    #[svc(stored = "phone_number")]
    #[svc::authorize_field(field_authorizer_adapter(by_name, "phone of a person"))]
    phone: Option<String>,
    #[svc::authorize_field(any_permission(&["pay:read", "pay:write"]))]
    #[svc::authorize_field(is_oneself)]
    #[svc(stored = "pay")]
    salary: Option<i32>,
    #[svc::authorize_field(fails)]
    mood: Option<String>,
    boss_id: Option<i32>,
    #[relation]
    #[svc::authorize_field(is_oneself)]
    boss: Option<One<Person>>,
    #[relation(from = "boss_id", to = "boss_id")]
    peers: Many<Person>,
}

#[svc_type]
impl Person {
    /// A method has both attributes in either order.
    #[svc::authorize_field(reads_own_diary)]
    #[svc(cost = 2)]
    async fn diary(&self, ctx: &Context<'_>, page: i32) -> Result<Option<String>> {
        ctx.data::<Ran>()?
            .0
            .lock()
            .unwrap()
            .push(format!("diary {} {page}", self.id));
        Ok(Some(format!("page {page} of {}", self.name)))
    }
}

#[svc_result]
enum Renamed {
    Success {
        person: Option<Person>,
        metadata: Option<Value>,
        cascade: Option<Value>,
    },
    Error {},
}

/// The names of all that has run, in order.
#[derive(Clone, Default)]
struct Ran(Arc<Mutex<Vec<String>>>);

fn user_id(request: &AuthorizationRequest) -> Option<&str> {
    request.user().map(|user| user.user_id.as_str())
}

#[expect(clippy::needless_pass_by_value, reason = "a check gets the request")]
fn is_oneself(person: &Person, request: AuthorizationRequest) -> bool {
    user_id(&request) == Some(person.name.as_str())
}

async fn reads_own_diary(
    person: &Person,
    request: AuthorizationRequest,
) -> Result<AuthorizationDecision> {
    let page: i32 = request.argument("page")?;
    request
        .context()
        .data::<Ran>()?
        .0
        .lock()
        .unwrap()
        .push(format!("asked {} {page}", request.operation_name()));
    tokio::task::yield_now().await;
    Ok(match is_oneself(person, request) {
        true => AuthorizationDecision::allow(),
        false => AuthorizationDecision::deny_with("NOT_YOURS", format!("page {page} is not yours")),
    })
}

async fn by_name(request: AuthorizationRequest) -> bool {
    assert_eq!(request.operation_name(), "phone of a person");
    request.context().header("x-inside").is_some()
}

async fn fails(_: &Person, request: AuthorizationRequest) -> Result<bool> {
    match request.context().header("x-way") {
        Some("raise") => Err("the secret is 42".parse::<i32>().unwrap_err().into()),
        Some("own") => {
            Err(Error::with_code("PAY_FIRST", "the trial is over").with_extension("plan", "trial"))
        }
        Some("panic") => panic!("the secret is 42"),
        Some("late") => std::future::pending().await,
        way => Ok(way == Some("allow")),
    }
}

#[svc::query]
async fn people() -> Vec<Person>;
#[svc::query]
async fn person(id: i32) -> Option<Person>;
#[svc::query]
async fn page() -> Connection<Person>;
#[svc::query]
async fn statistics() -> Aggregate<Person>;
#[svc::query]
async fn beings() -> Vec<Being>;
#[svc::query]
async fn found(ctx: &Context<'_>, r#where: Option<Where<Person>>) -> Result<Find<Person>> {
    Ok(ctx
        .db()
        .find::<Person>()
        .apply_where(r#where)
        .order_by(asc("id")))
}
#[svc::query]
async fn awaited(ctx: &Context<'_>) -> Result<Vec<Person>> {
    ctx.db().find::<Person>().order_by(asc("id")).await
}
#[svc::mutation(function = "app.rename")]
async fn rename(person_id: i32) -> Renamed;
#[svc::mutation(function = "app.plain")]
async fn plain(person_id: i32) -> Person;

const SQL: &str = "CREATE TABLE tb_person (id int PRIMARY KEY, name text, email text, phone_number text, pay int, mood text, boss_id int, unused text);
    INSERT INTO tb_person VALUES (1, 'ada', 'ada@x', '111', 10, 'good', 2, 'u'), (2, 'bob', 'bob@x', '222', 20, 'bad', 2, 'u');
    CREATE TABLE tb_changes (id int);
    CREATE VIEW v_person AS SELECT * FROM tb_person;
    CREATE VIEW v_robot AS SELECT 3 AS id, 'robot@x'::text AS email;
    CREATE VIEW v_being AS SELECT 'Person' AS __typename, id, name, email, phone_number, pay, mood, boss_id FROM v_person
        UNION ALL SELECT 'Robot', id, NULL, email, NULL, NULL, NULL, NULL FROM v_robot;
    CREATE SCHEMA app;
    CREATE TYPE app.mutation_response AS (status text, message text, entity_id text, entity_type text, entity jsonb,
        updated_fields text[], cascade jsonb, metadata jsonb);
    CREATE FUNCTION app.rename(person_id int) RETURNS app.mutation_response LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO tb_changes VALUES (person_id);
        RETURN ROW('updated', 'done', person_id::text, 'Person', (SELECT to_jsonb(p) FROM tb_person p WHERE id = person_id),
            NULL, to_jsonb('c@x'::text), to_jsonb('m@x'::text))::app.mutation_response;
    END $$;
    CREATE FUNCTION app.plain(person_id int) RETURNS jsonb LANGUAGE sql AS
    'SELECT to_jsonb(p) FROM tb_person p WHERE id = person_id';";

async fn database() -> TestDatabase {
    TestDatabase::copy_of("field_checks", SQL).await
}

fn options(database: &TestDatabase) -> AppOptions {
    let operations = OperationsConfig {
        rust_endpoint: true,
        ..OperationsConfig::default()
    };
    AppOptions::new()
        .config(SvcConfig {
            operations,
            ..SvcConfig::default()
        })
        .database_url(database.url())
        .data(Ran::default())
        .queries(queries![
            people, person, page, statistics, beings, found, awaited
        ])
        .mutations(mutations![rename, plain])
}

async fn ask(app: &App, user: &str, query: &str) -> Value {
    ask_as(app, "/graphql", user, query, &json!({})).await
}
