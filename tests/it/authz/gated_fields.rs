//! A gated field is gated wherever its value can be learnt, on every path.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use svc::authz::{Authorizer, OperationType};
use svc::prelude::*;
use svc::{Operation, OperationsConfig};
use svc_tests::{App, Log, TestDatabase};

use super::service::{ask_rust, codes};

#[svc_interface(fields(id: i32, code: Option<String>), sql_source = "v_item")]
enum Item {
    Book(Book),
    Film(Film),
}

#[svc_type(sql_source = "v_book")]
struct Book {
    id: i32,
    code: Option<String>,
}

#[svc_type(sql_source = "v_film", authorize_fields = ["code"])]
struct Film {
    id: i32,
    code: Option<String>,
}

#[svc_type(sql_source = "v_member", authorize_fields = ["email", "token", "score", "hint", "team", "joined"])]
struct Member {
    id: i32,
    name: String,
    email: Option<String>,
    token: String,
    score: Option<i32>,
    team_id: Option<i32>,
    joined: Option<NaiveDate>,
    #[relation(from = "team_id", to = "team_id")]
    mates: Many<Member>,
    #[relation(from = "team_id", to = "id")]
    team: Option<One<Member>>,
}

#[svc_type]
impl Member {
    fn hint(&self, ctx: &Context<'_>, length: i32) -> Result<Option<String>> {
        ctx.data::<Asked>()?
            .0
            .lock()
            .unwrap()
            .push(format!("ran {length}"));
        Ok(Some("secret".to_owned()))
    }
    fn plain(&self) -> i32 {
        self.id
    }
}

#[svc_result]
enum Changed {
    Success {
        member: Option<Member>,
        metadata: Option<Value>,
        cascade: Option<Value>,
    },
    Error {},
}

#[svc::query]
async fn members() -> Vec<Member>;
#[svc::query]
async fn member(email: String) -> Option<Member>;
#[svc::query]
async fn page() -> Connection<Member>;
#[svc::query]
async fn statistics() -> Aggregate<Member>;
#[svc::query]
async fn found(ctx: &Context<'_>, r#where: Option<Where<Member>>) -> Result<Find<Member>> {
    Ok(ctx.db().find::<Member>().apply_where(r#where))
}
#[svc::query]
async fn awaited(ctx: &Context<'_>) -> Result<Vec<Member>> {
    ctx.db().find::<Member>().order_by(asc("id")).await
}
#[svc::query]
async fn items() -> Vec<Item>;
#[svc::mutation(function = "app.change")]
async fn change(member_id: i32) -> Changed;

const SQL: &str = "CREATE TABLE tb_member (id int PRIMARY KEY, name text, email text, token text, score int, team_id int,
      joined date DEFAULT '1999-04-01');
    INSERT INTO tb_member VALUES (1, 'ada', 'secret-1', 'secret-t1', 41777, 1), (2, 'bob', 'secret-2', 'secret-t2', 41778, 1);
    CREATE TABLE tb_changes (id int);
    CREATE VIEW v_member AS SELECT * FROM tb_member;
    CREATE VIEW v_book AS SELECT 1 AS id, 'open' AS code;
    CREATE VIEW v_film AS SELECT 2 AS id, 'secret-f' AS code;
    CREATE VIEW v_item AS SELECT 'Book' AS __typename, id, code FROM v_book
        UNION ALL SELECT 'Film', id, code FROM v_film;
    CREATE SCHEMA app;
    CREATE TYPE app.mutation_response AS (status text, message text, entity_id text, entity_type text, entity jsonb,
        updated_fields text[], cascade jsonb, metadata jsonb);
    CREATE FUNCTION app.change(member_id int) RETURNS app.mutation_response LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO tb_changes VALUES (member_id);
        RETURN ROW('updated', 'done', member_id::text, 'Member', (SELECT to_jsonb(m) FROM tb_member m WHERE id = member_id),
            NULL, to_jsonb('secret-c'::text), to_jsonb('secret-m'::text))::app.mutation_response;
    END $$;";

const CACHED: &str = "query Cached { members { id email } }";

/// The fields that were asked about, by a policy that knows those which are denied.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<String>>>);

struct Policy(
    Asked,
    fn(&AuthorizationRequest) -> Result<AuthorizationDecision>,
);

impl Authorizer for Policy {
    async fn authorize_operation(
        &self,
        request: AuthorizationRequest,
    ) -> Result<AuthorizationDecision> {
        if request.operation_type() != OperationType::Field {
            return Ok(AuthorizationDecision::allow());
        }
        let arguments: Vec<_> = request
            .arguments()
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        self.0.0.lock().unwrap().push(format!(
            "{}({})",
            request.operation_name(),
            arguments.join(", ")
        ));
        self.1(&request)
    }
}

async fn serve(
    database: &TestDatabase,
    decide: fn(&AuthorizationRequest) -> Result<AuthorizationDecision>,
) -> (App, Asked) {
    let asked = Asked::default();
    let operations = OperationsConfig {
        rust_endpoint: true,
        ..OperationsConfig::default()
    };
    let cached = Operation::new(CACHED)
        .sql("SELECT jsonb_agg(v_member ORDER BY id) AS members FROM v_member");
    let options = AppOptions::new()
        .config(SvcConfig {
            operations,
            ..SvcConfig::default()
        })
        .database_url(database.url())
        .data(asked.clone())
        .queries(queries![
            members, member, page, statistics, found, awaited, items
        ])
        .mutations(mutations![change])
        .operations([cached])
        .authorizer(Policy(asked.clone(), decide));
    (App::serve(options).await, asked)
}

fn denies(_: &AuthorizationRequest) -> Result<AuthorizationDecision> {
    Ok(AuthorizationDecision::deny())
}

async fn database() -> TestDatabase {
    TestDatabase::copy_of("gated", SQL).await
}

/// Documents that tell something of the gated fields, however they do it.
const TELLING: [&str; 36] = [
    "{ members { x: email } }",
    "{ members { ...F } } fragment F on Member { ... on Member { email } }",
    "{ members { mates { email } } }",
    "{ members(limit: 2) { mates(limit: 2) { mates(limit: 2) { mates(limit: 2) { email } } } } }",
    "{ members { plain mates { email plain } } }",
    "{ members { team { id } } }",
    r#"{ members { hint(length: 3) } }"#,
    "{ awaited { email } }",
    "{ awaited { mates { email } } }",
    "{ found { email } }",
    "{ page { nodes { email } } }",
    "{ page { edges { node { email } } } }",
    r#"{ members(where: { email: { eq: "secret-1" } }) { id } }"#,
    r#"{ members(where: { AND: [{ NOT: { email: { isnull: true } } }] }) { id } }"#,
    r#"{ members(where: { mates: { some: { email: { eq: "a" } } } }) { id } }"#,
    "{ members(order_by: [{ email: ASC }]) { id } }",
    "{ members { mates(order_by: [{ email: ASC }]) { id } } }",
    r#"{ page(where: { email: { eq: "a" } }) { total_count } }"#,
    "{ page(order_by: [{ email: ASC }]) { edges { cursor } } }",
    r#"{ member(email: "secret-1") { id } }"#,
    "{ statistics { max { email } } }",
    "{ statistics { sum { score } } }",
    "{ statistics { groups(by: [NAME, EMAIL]) { key { name email } count } } }",
    "{ statistics { groups(order_by: [{ min: { email: ASC } }]) { count } } }",
    "{ statistics { groups(by: [EMAIL]) { count } } }",
    "{ statistics { a: groups(by: [NAME]) { count } b: groups(by: EMAIL, limit: 1) { count key { email } } } }",
    "{ statistics { groups(by: [TEAM__NAME]) { count } } }",
    "{ statistics { groups(by: [NAME, TEAM__NAME], order_by: [{ key: { team: { name: ASC } } }]) { count } } }",
    "{ statistics { groups(by: [JOINED_YEAR]) { count } } }",
    "{ statistics { groups(by: [NAME, JOINED_MONTH]) { key { name joined_month } } } }",
    "{ statistics { groups(by: [NAME, JOINED_WEEK], order_by: [{ key: { joined_week: ASC } }]) { count } } }",
    r#"{ statistics { groups(having: { max: { email: { contains: "1" } } }) { count } } }"#,
    "{ statistics { groups(by: [NAME], having: { OR: [{ NOT: { sum: { score: { gt: 1 } } } }] }) { count } } }",
    "{ statistics { groups(having: { count_distinct: { joined: { gt: 1 } } }) { count } } }",
    "{ statistics { count_distinct { email } } }",
    "{ statistics { groups(by: [NAME], order_by: [{ count_distinct: { score: DESC } }]) { count } } }",
];

#[tokio::test]
async fn nothing_is_learnt_of_a_field_that_is_denied() {
    let database = database().await;
    let (app, asked) = serve(&database, denies).await;
    for query in TELLING {
        let reply = app.query(query).await;
        let answer = reply.json();
        assert!(
            !codes(&answer).is_empty() && codes(&answer).iter().all(|code| *code == "FORBIDDEN"),
            "{query}: {answer}"
        );
        assert!(
            !reply.text.contains("secret-") && !reply.text.contains("4177"),
            "{query}: {answer}"
        );
        assert!(
            answer["errors"][0]["extensions"]["field"]
                .as_str()
                .unwrap()
                .starts_with("Member."),
            "{answer}"
        );
        let asked = std::mem::take(&mut *asked.0.lock().unwrap());
        assert_eq!(
            asked.len(),
            1,
            "each field is asked about once, and no method runs: {query}: {asked:?}"
        );
    }
    let statements = database.texts("v_member").await;
    // Whole rows are for structs of the program, which never have a part of their fields.
    let is_whole = |text: &str| text.contains("\"token\"");
    let reads =
        |text: &&String| (text.contains("email") || text.contains("score")) && !is_whole(text);
    assert_eq!(statements.iter().filter(reads).collect::<Vec<_>>(), [""; 0]);
}

#[tokio::test]
async fn all_of_it_is_answered_when_it_is_allowed() {
    let database = database().await;
    let (app, _) = serve(&database, |_| Ok(AuthorizationDecision::allow())).await;
    for query in TELLING {
        app.query(query).await.data();
    }
}

#[tokio::test]
async fn variables_are_looked_into() {
    let database = database().await;
    let (app, _) = serve(&database, denies).await;
    let query = "query ($w: MemberWhere, $o: [MemberOrderBy!]) { found(where: $w) { id } members(where: $w, order_by: $o) { id } }";
    for (variables, is_denied) in [
        (json!({}), false),
        (json!({ "w": { "id": { "eq": 1 } } }), false),
        (json!({ "w": { "OR": [{ "email": { "eq": "a" } }] } }), true),
        (json!({ "o": [{ "email": "ASC" }] }), true),
    ] {
        let answer = app.query_with(query, variables.clone()).await.json();
        assert_eq!(
            !codes(&answer).is_empty(),
            is_denied,
            "{variables}: {answer}"
        );
    }
}

#[tokio::test]
async fn variables_of_groups_are_looked_into() {
    let database = database().await;
    let (app, asked) = serve(&database, denies).await;
    let query = "query ($by: [MemberGroupBy!], $one: MemberGroupBy!, $h: MemberGroupHaving, $n: IntFilter) {
        statistics { count groups(by: $by, having: $h) { count } one: groups(by: [NAME, $one], having: {count: $n}) { count } } }";
    for (variables, fields) in [
        (json!({ "one": "ID" }), vec![]),
        (
            json!({ "one": "ID", "by": ["NAME", "TEAM_ID"], "h": { "count": { "gt": 1 } }, "n": { "gt": 0 } }),
            vec![],
        ),
        (json!({ "one": "EMAIL" }), vec!["Member.email"]),
        (
            json!({ "one": "ID", "by": ["JOINED_YEAR", "SCORE"] }),
            vec!["Member.joined", "Member.score"],
        ),
        (
            json!({ "one": "ID", "by": "TEAM__EMAIL" }),
            vec!["Member.email", "Member.team"],
        ),
        (
            json!({ "one": "ID", "h": { "AND": [{ "min": { "token": { "eq": "a" } } }] } }),
            vec!["Member.token"],
        ),
    ] {
        let answer = app.query_with(query, variables.clone()).await.json();
        assert_eq!(
            !codes(&answer).is_empty(),
            !fields.is_empty(),
            "{variables}: {answer}"
        );
        let mut asked = std::mem::take(&mut *asked.0.lock().unwrap());
        asked.sort();
        let fields: Vec<_> = fields.iter().map(|field| format!("{field}()")).collect();
        assert_eq!(asked, fields, "{variables}");
    }
    let statements = database.texts("v_member").await;
    assert!(
        statements
            .iter()
            .all(|text| !text.contains("email") && !text.contains("joined")),
        "{statements:?}"
    );
}

#[tokio::test]
async fn the_rest_of_the_rows_is_answered() {
    let database = database().await;
    let (app, _) = serve(&database, denies).await;
    for query in [
        "{ members { id email } }",
        "{ awaited { id email } }",
        "{ found { id email } }",
    ] {
        let answer = app.query(query).await.json();
        let rows = answer["data"].as_object().unwrap().values().next().unwrap();
        assert_eq!(
            *rows,
            json!([{ "id": 1, "email": null }, { "id": 2, "email": null }]),
            "{query}"
        );
        assert_eq!(codes(&answer), ["FORBIDDEN"; 2]);
        let path = answer["errors"][1]["path"].as_array().unwrap();
        assert_eq!(path[1..], [json!(1), json!("email")], "{answer}");
    }
    let answer = app
        .query("{ members { plain mates { id plain email } } }")
        .await
        .json();
    assert_eq!(
        answer["data"]["members"][1]["mates"][0],
        json!({ "id": 1, "plain": 1, "email": null })
    );
    // What cannot be null takes its row along.
    let answer = app
        .query("{ members { id token } a: members { id } }")
        .await
        .json();
    assert_eq!(
        (&answer["data"], codes(&answer)),
        (&Value::Null, vec!["FORBIDDEN"]),
        "{answer}"
    );
}

#[tokio::test]
async fn a_method_is_asked_about_once_for_its_arguments() {
    let database = database().await;
    let (app, asked) = serve(&database, |request| {
        Ok((request.argument::<i32>("length")? == 3).into())
    })
    .await;
    let answer = app
        .query("{ members(limit: 1) { a: hint(length: 3) b: hint(length: 4) c: hint(length: 3) } }")
        .await;
    let answer = answer.json();
    assert_eq!(
        answer["data"],
        json!({ "members": [{ "a": "secret", "b": null, "c": "secret" }] }),
        "{answer}"
    );
    let asked = asked.0.lock().unwrap().clone();
    assert_eq!(
        asked,
        [
            "Member.hint(length: 3)",
            "Member.hint(length: 4)",
            "ran 3",
            "ran 3"
        ]
    );
}

#[tokio::test]
async fn ways_that_pass_functions_by_serve_nothing_of_the_document() {
    let database = database().await;
    let (app, _) = serve(&database, denies).await;
    for answer in [
        app.query(CACHED).await.json(),
        ask_rust(&app, "{ members { id email } page { total_count } }").await,
        ask_rust(&app, "{ members(order_by: [{ email: ASC }]) { id } }").await,
    ] {
        assert_eq!(answer["data"], Value::Null, "{answer}");
        assert!(
            codes(&answer)
                .iter()
                .all(|code| *code == "FIELD_AUTHORIZATION_ERROR"),
            "{answer}"
        );
        assert_eq!(
            answer["errors"][0]["extensions"]["field"], "Member.email",
            "{answer}"
        );
    }
    assert_eq!(
        database.statements("FROM v_member").await + database.statements("FROM \"v_member\"").await,
        0
    );
    let answer = ask_rust(&app, "{ members { id } }").await;
    assert_eq!(
        answer,
        json!({ "data": { "members": [{ "id": 1 }, { "id": 2 }] } })
    );
}

#[tokio::test]
async fn a_policy_that_fails_denies_with_a_code_of_its_own() {
    let database = database().await;
    let (app, _) = serve(&database, |_| Err(Error::internal("secret-of-the-policy"))).await;
    let reply = app.query("{ members(limit: 1) { id email } }").await;
    assert_eq!(
        reply.json()["data"],
        json!({ "members": [{ "id": 1, "email": null }] })
    );
    assert_eq!(reply.code(), "FIELD_AUTHORIZATION_ERROR");
    assert!(!reply.text.contains("secret-"), "{}", reply.text);
    let own = |_: &AuthorizationRequest| -> Result<_> {
        Err(Error::with_code("PAY_FIRST", "the trial is over"))
    };
    let (app, _) = serve(&database, own).await;
    let reply = app.query("{ members(limit: 1) { id email } }").await;
    assert_eq!(
        (reply.code(), reply.message()),
        ("PAY_FIRST".into(), "the trial is over".into())
    );
}

#[tokio::test]
async fn a_filter_for_a_field_counts_for_nothing_as_the_log_says() {
    let (log, database) = (Log::start(), database().await);
    let told = "a filter was given for a field, which has none";
    let (app, _) = serve(&database, |_| Ok(AuthorizationDecision::allow())).await;
    app.query("{ members(limit: 1) { email } }").await.data();
    assert!(!log.text().contains(told), "{}", log.text());
    let (app, _) = serve(&database, |_| {
        Ok(AuthorizationDecision::allow_filtered([("id", 99)]))
    })
    .await;
    let answer = app.query("{ members(limit: 1) { email } }").await.data();
    assert_eq!(answer, json!({ "members": [{ "email": "secret-1" }] }));
    log.has(told).await;
}

/// One who may not see what cannot be null is not told that a mutation is done, so it is not done.
#[tokio::test]
async fn results_of_mutations_are_gated() {
    let database = database().await;
    let (app, _) = serve(&database, denies).await;
    let changes = async || database.pool().await;
    let change =
        "mutation { change(member_id: 1) { ... on ChangedSuccess { member { id email } } } }";
    let answer = app.query(change).await.json();
    assert_eq!(
        answer["data"],
        json!({ "change": { "member": { "id": 1, "email": null } } }),
        "{answer}"
    );
    assert_eq!(codes(&answer), ["FORBIDDEN"]);
    for document in ["metadata", "cascade"] {
        let change = format!(
            "mutation {{ change(member_id: 1) {{ ... on ChangedSuccess {{ status {document} }} }} }}"
        );
        let reply = app.query(&change).await;
        assert_eq!(
            (reply.code().as_str(), reply.text.contains("secret-")),
            ("FORBIDDEN", false),
            "{}",
            reply.text
        );
    }
    let change =
        "mutation { change(member_id: 1) { ... on ChangedSuccess { member { id token } } } }";
    let answer = app.query(change).await.json();
    assert_eq!(
        answer["errors"][0]["extensions"]["mutation"], "NOT_DONE",
        "{answer}"
    );
    let done: i64 = svc::sqlx::query_scalar("SELECT count(*) FROM tb_changes")
        .fetch_one(&changes().await)
        .await
        .unwrap();
    assert_eq!(done, 3);
}

/// Each type that implements an interface keeps its own gates.
#[tokio::test]
async fn members_of_an_interface_keep_their_gates() {
    let database = database().await;
    let (app, _) = serve(&database, denies).await;
    let answer = app
        .query("{ items(order_by: [{ id: ASC }]) { id code } }")
        .await
        .json();
    assert_eq!(
        answer["data"]["items"],
        json!([{ "id": 1, "code": "open" }, { "id": 2, "code": null }]),
        "{answer}"
    );
    assert_eq!(codes(&answer), ["FORBIDDEN"]);
    for query in [
        "{ items(order_by: [{ code: ASC }]) { id } }",
        r#"{ items(where: { code: { eq: "open" } }) { id } }"#,
    ] {
        assert_eq!(
            codes(&app.query(query).await.json()),
            ["FORBIDDEN"],
            "{query}"
        );
    }
}
