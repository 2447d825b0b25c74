//! Checks of fields look at the object, wherever it comes from, and nothing is learnt without them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use svc::authz::{any_permission, field_authorizer_adapter};
use svc::prelude::*;
use svc::{Operation, OperationsConfig};
use svc_tests::{App, Log, TestDatabase};

use super::principals::{ask_as, serve};
use super::service::codes;

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

/// Documents that answer with both people, in the order of their ids, and where in the answer their
/// emails are.
const EVERYWHERE: [(&str, &str); 10] = [
    (
        "{ people(order_by: [{ id: ASC }]) { email } }",
        "/people/{}/email",
    ),
    ("{ found { x: email } }", "/found/{}/x"),
    (
        "{ awaited { ...F } } fragment F on Person { ... on Person { email } }",
        "/awaited/{}/email",
    ),
    ("{ page { nodes { id email } } }", "/page/nodes/{}/email"),
    (
        "{ page { edges { node { email } cursor } } }",
        "/page/edges/{}/node/email",
    ),
    (
        "{ person(id: 1) { peers(order_by: [{ id: ASC }]) { email } } }",
        "/person/peers/{}/email",
    ),
    (
        "{ awaited { peers(order_by: [{ id: ASC }]) { email } } }",
        "/awaited/1/peers/{}/email",
    ),
    (
        "{ beings(order_by: [{ id: ASC }], limit: 2) { email } }",
        "/beings/{}/email",
    ),
    (
        "{ beings(order_by: [{ id: ASC }], limit: 2) { ... on Person { email name } } }",
        "/beings/{}/email",
    ),
    (
        "{ a: people(order_by: [{ id: ASC }]) { email peers { id } } }",
        "/a/{}/email",
    ),
];

#[tokio::test]
async fn each_object_is_decided_about() {
    let database = database().await;
    let app = serve(options(&database)).await;
    for (query, path) in EVERYWHERE {
        for (user, own) in [
            ("", None),
            ("ada", Some(0)),
            ("bob", Some(1)),
            ("eve", None),
        ] {
            let answer = ask(&app, user, query).await;
            for (index, email) in ["ada@x", "bob@x"].into_iter().enumerate() {
                let path = path.replace("{}", &index.to_string());
                let expected = if own == Some(index) {
                    json!(email)
                } else {
                    Value::Null
                };
                assert_eq!(
                    answer["data"].pointer(&path),
                    Some(&expected),
                    "{user}: {query}: {answer}"
                );
                assert!(
                    own == Some(index) || !answer.to_string().contains(email),
                    "{answer}"
                );
            }
            assert!(
                codes(&answer).iter().all(|code| *code == "FORBIDDEN")
                    && !codes(&answer).is_empty(),
                "{answer}"
            );
            assert_eq!(
                answer["errors"][0]["extensions"]["field"], "Person.email",
                "{answer}"
            );
        }
    }
    let answer = ask(
        &app,
        "bob",
        "{ people(order_by: [{ id: ASC }]) { id email } }",
    )
    .await;
    assert_eq!(answer["errors"].as_array().unwrap().len(), 1, "{answer}");
    assert_eq!(answer["errors"][0]["path"], json!(["people", 0, "email"]));
    let answer = ask(&app, "", "{ beings(where: { id: { eq: 3 } }) { email } }").await;
    assert_eq!(
        answer,
        json!({ "data": { "beings": [{ "email": "robot@x" }] } }),
        "the other member has no check"
    );
}

#[tokio::test]
async fn what_is_denied_neither_runs_nor_is_read() {
    let database = database().await;
    let ran = Ran::default();
    let app = serve(options(&database).data(ran.clone())).await;
    let query = "{ awaited { diary(page: 7) boss { name } } }";
    let answer = ask(&app, "ada", query).await;
    let own = json!({ "diary": "page 7 of ada", "boss": { "name": "bob" } });
    assert_eq!(
        answer["data"]["awaited"],
        json!([own, { "diary": null, "boss": null }]),
        "{answer}"
    );
    assert_eq!(codes(&answer), ["NOT_YOURS", "FORBIDDEN"], "{answer}");
    assert_eq!(answer["errors"][0]["message"], "page 7 is not yours");
    assert_eq!(
        *ran.0.lock().unwrap(),
        ["asked Person.diary 7", "asked Person.diary 7", "diary 1 7"],
        "a method runs where it is allowed"
    );
    let before = database.statements("v_person").await;
    let answer = ask(&app, "eve", query).await;
    assert_eq!(
        answer["data"]["awaited"][1],
        json!({ "diary": null, "boss": null }),
        "{answer}"
    );
    assert_eq!(
        database.statements("v_person").await - before,
        1,
        "relations of the denied are not read"
    );
}

/// One statement reads what the struct has, and nothing else of the row.
#[tokio::test]
async fn a_planned_field_reads_the_columns_of_the_struct_at_once() {
    let database = database().await;
    let app = serve(options(&database)).await;
    let answer = ask(&app, "ada", "{ people { name email } }").await;
    assert_eq!(codes(&answer), ["FORBIDDEN"], "{answer}");
    assert_eq!(database.statements("v_person").await, 1);
    let texts = database.texts("v_person").await;
    assert!(
        texts
            .iter()
            .all(|text| text.contains("email") && !text.contains("unused")),
        "{texts:?}"
    );
    ask(&app, "ada", "{ people { name } }").await;
    let texts = database.texts("v_person").await;
    assert!(
        texts.iter().any(|text| !text.contains("email")),
        "it is read only where it is asked for: {texts:?}"
    );
}

#[tokio::test]
async fn several_checks_must_all_allow() {
    let database = database().await;
    let app = serve(options(&database)).await;
    for (user, pay, errors) in [
        ("", json!([null, null]), vec!["UNAUTHENTICATED"; 2]),
        ("ada", json!([null, null]), vec!["FORBIDDEN"; 2]),
        ("ada;;pay:read", json!([10, null]), vec!["FORBIDDEN"]),
        ("eve;;pay:write", json!([null, null]), vec!["FORBIDDEN"; 2]),
    ] {
        let answer = ask(&app, user, "{ people(order_by: [{ id: ASC }]) { salary } }").await;
        let given: Vec<_> = (0..2)
            .map(|index| answer["data"]["people"][index]["salary"].clone())
            .collect();
        assert_eq!(
            (Value::from(given), codes(&answer)),
            (pay, errors),
            "{user}: {answer}"
        );
    }
    let answer = ask(&app, "ada", "{ person(id: 1) { salary } }").await;
    let required = json!(["pay:read", "pay:write"]);
    assert_eq!(
        answer["errors"][0]["extensions"]["required_permissions"], required,
        "{answer}"
    );
}

#[tokio::test]
async fn an_authorizer_serves_as_a_check() {
    let database = database().await;
    let app = serve(options(&database)).await;
    let query = "{ person(id: 1) { phone } }";
    assert_eq!(codes(&ask(&app, "ada", query).await), ["FORBIDDEN"]);
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .header("x-inside", "1");
    let answer = app
        .send(request.body(json!({ "query": query }).to_string()))
        .await
        .json();
    assert_eq!(answer, json!({ "data": { "person": { "phone": "111" } } }));
}

#[tokio::test]
async fn a_check_that_fails_denies_and_tells_only_the_log() {
    let database = database().await;
    let app = serve(options(&database).authorization_timeout(Duration::from_millis(100))).await;
    for (way, code) in [
        ("raise", "FIELD_AUTHORIZATION_ERROR"),
        ("panic", "FIELD_AUTHORIZATION_ERROR"),
        ("late", "FIELD_AUTHORIZATION_ERROR"),
        ("own", "PAY_FIRST"),
        ("no", "FORBIDDEN"),
    ] {
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json")
            .header("x-way", way);
        let body = json!({ "query": "{ person(id: 1) { id mood } }" }).to_string();
        let reply = app.send(request.body(body)).await;
        assert_eq!(
            reply.json()["data"],
            json!({ "person": { "id": 1, "mood": null } }),
            "{way}: {}",
            reply.text
        );
        assert_eq!(
            (reply.code().as_str(), reply.text.contains("42")),
            (code, false),
            "{way}: {}",
            reply.text
        );
        assert_eq!(
            reply.json()["errors"][0]["extensions"]["plan"] == "trial",
            way == "own",
            "{}",
            reply.text
        );
    }
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .header("x-way", "allow");
    let reply = app
        .send(request.body(json!({ "query": "{ person(id: 1) { mood } }" }).to_string()))
        .await;
    assert_eq!(reply.data(), json!({ "person": { "mood": "good" } }));
}

#[test]
fn no_input_of_the_schema_can_ask_for_it() {
    let sdl = AppOptions::new()
        .queries(queries![people, page, statistics, beings])
        .data(Ran::default())
        .sdl()
        .unwrap_or_else(|error| panic!("{error}"));
    for part in sdl
        .split("\n}\n")
        .filter(|part| part.contains("input ") || part.contains("type PersonM"))
    {
        for field in ["email", "phone", "salary", "mood", "boss"] {
            assert!(!part.contains(&format!("  {field}:")), "{part}");
        }
    }
    assert!(
        sdl.contains("input PersonWhere")
            && sdl.contains("type PersonGroupKey")
            && sdl.contains("input BeingWhere")
    );
    let key = sdl
        .split("type PersonGroupKey {")
        .nth(1)
        .unwrap()
        .split('}')
        .next()
        .unwrap();
    assert!(key.contains("name: ") && !key.contains("email"), "{key}");
}

#[tokio::test]
async fn the_log_of_the_start_names_the_fields() {
    let database = database().await;
    let log = Log::everything();
    drop(create_svc_app(options(&database)).await.unwrap());
    let told = log.text();
    assert!(
        told.contains("Person.email, Person.phone, Person.salary"),
        "{told}"
    );
}

#[svc::query(name = "people")]
async fn by_email(email: String) -> Vec<Person>;

#[test]
fn an_argument_that_would_compare_it_is_refused() {
    let error = AppOptions::new()
        .queries(queries![by_email])
        .sdl()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("the argument `email` of") && error.contains("`authorize_field`"),
        "{error}"
    );
}

/// Ways without functions of the program cannot check, so they do not serve the field.
#[tokio::test]
async fn ways_that_pass_functions_by_refuse_it() {
    let database = database().await;
    let app = serve(options(&database)).await;
    let answer = ask_as(
        &app,
        "/graphql/rust",
        "ada",
        "{ people { id email } }",
        &json!({}),
    )
    .await;
    assert_eq!(
        (codes(&answer), answer.get("data")),
        (vec!["BAD_REQUEST"], None),
        "{answer}"
    );
    assert!(
        answer["errors"][0]["message"]
            .as_str()
            .unwrap()
            .contains("`Person.email`"),
        "{answer}"
    );
    let answer = ask_as(
        &app,
        "/graphql/rust",
        "ada",
        "{ people { id } }",
        &json!({}),
    )
    .await;
    assert_eq!(
        answer["data"]["people"].as_array().unwrap().len(),
        2,
        "{answer}"
    );
    let cached = Operation::new("query Cached { people { id email } }").sql("SELECT 1 AS people");
    let error = create_svc_app(options(&database).operations([cached]))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`Person.email` is checked by a function of the program"),
        "{error}"
    );
}

#[tokio::test]
async fn results_of_mutations_are_checked() {
    let database = database().await;
    let app = serve(options(&database)).await;
    for (query, path) in [
        (
            "mutation { rename(person_id: 1) { ... on RenamedSuccess { person { id email } } } }",
            "/rename/person",
        ),
        ("mutation { plain(person_id: 1) { id email } }", "/plain"),
    ] {
        let answer = ask(&app, "ada", query).await;
        assert_eq!(
            answer["data"].pointer(path),
            Some(&json!({ "id": 1, "email": "ada@x" })),
            "{answer}"
        );
        let answer = ask(&app, "bob", query).await;
        assert_eq!(
            answer["data"].pointer(path),
            Some(&json!({ "id": 1, "email": null })),
            "{answer}"
        );
        let extensions = &answer["errors"][0]["extensions"];
        assert_eq!(
            (&extensions["code"], &extensions["mutation"]),
            (&json!("FORBIDDEN"), &json!("DONE")),
            "{answer}"
        );
    }
    for document in ["metadata", "cascade"] {
        let query = format!(
            "mutation {{ rename(person_id: 1) {{ ... on RenamedSuccess {{ status {document} }} }} }}"
        );
        let answer = ask(&app, "ada", &query).await;
        assert_eq!(
            codes(&answer),
            ["FIELD_AUTHORIZATION_ERROR"],
            "it may hold what is checked: {answer}"
        );
        assert!(!answer.to_string().contains("@x"), "{answer}");
    }
}

/// The authorizer decides before anything runs, the checks after it.
#[tokio::test]
async fn both_the_authorizer_and_the_checks_must_allow() {
    #[svc_type(sql_source = "v_person", name = "Person", authorize_fields = ["email"])]
    struct Both {
        #[svc::authorize_field(is_ada)]
        email: Option<String>,
        name: String,
    }
    async fn is_ada(both: &Both, request: AuthorizationRequest) -> Result<bool> {
        request
            .context()
            .data::<Ran>()?
            .0
            .lock()
            .unwrap()
            .push(both.name.clone());
        Ok(both.name == "ada")
    }
    #[svc::query(name = "people")]
    async fn both() -> Vec<Both>;

    let database = database().await;
    let ran = Ran::default();
    let policy = async |request: AuthorizationRequest| {
        request.operation_name() != "Person.email" || request.context().header("x-user").is_some()
    };
    let options = AppOptions::new()
        .database_url(database.url())
        .data(ran.clone())
        .queries(queries![both]);
    let app = serve(options.authorizer(policy)).await;
    let answer = ask(&app, "", "{ people { name email } }").await;
    assert_eq!(
        (codes(&answer).len(), ran.0.lock().unwrap().len()),
        (2, 0),
        "{answer}"
    );
    let answer = ask(&app, "x", "{ people { name email } }").await;
    assert_eq!(
        (codes(&answer).len(), ran.0.lock().unwrap().len()),
        (1, 2),
        "{answer}"
    );
    assert_eq!(
        codes(
            &ask(
                &app,
                "",
                "{ people(where: { name: { eq: \"ada\" } }) { name } }"
            )
            .await
        )
        .len(),
        0
    );
}
