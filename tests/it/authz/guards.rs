//! Guards: what a field requires of the user, wherever it stands.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use svc::prelude::*;
use svc::{Operation, OperationsConfig};
use svc_tests::TestDatabase;

use super::principals::{ask_as, serve};
use super::service::codes;

#[svc_type(sql_source = "v_person")]
struct Person {
    id: i32,
    #[svc::requires_role("admin")]
    salary: Option<i32>,
    boss_id: Option<i32>,
    /// The one who leads this one.
    #[relation]
    #[svc::requires_permission("people:read")]
    boss: Option<One<Person>>,
}

#[svc_type]
impl Person {
    #[svc::requires_auth]
    fn badge(&self, ctx: &Context<'_>) -> Result<Option<i32>> {
        called(ctx)?;
        Ok(Some(self.id * 100))
    }
}

/// The number of times that functions of the program have run.
#[derive(Clone, Default)]
struct Calls(Arc<AtomicU32>);

fn called(ctx: &Context<'_>) -> Result<i32> {
    Ok(ctx
        .data::<Calls>()?
        .0
        .fetch_add(1, Ordering::Relaxed)
        .try_into()?)
}

/// All who work here.
#[svc::query]
#[svc::requires_auth]
async fn people() -> Vec<Person>;
#[svc::query]
#[svc::requires_permission("people:count")]
async fn headcount() -> Aggregate<Person>;
#[svc::query]
#[svc::requires_any_role("admin", "clerk")]
#[svc::requires_any_permission("people:read", "people:write")]
async fn listed(ctx: &Context<'_>) -> Result<Find<Person>> {
    called(ctx)?;
    Ok(ctx.db().find::<Person>())
}
#[svc::query]
async fn open() -> Vec<Person>;
#[svc::mutation(function = "app.raise")]
#[svc::requires_role("admin")]
async fn raise(person_id: i32, by: i32) -> Option<i32>;
#[svc::mutation]
#[svc::requires_role("admin")]
fn touch(ctx: &Context<'_>) -> Result<i32> {
    called(ctx)
}

const SQL: &str = "CREATE TABLE tb_person (id int PRIMARY KEY, salary int, boss_id int);
    INSERT INTO tb_person VALUES (1, 900, NULL), (2, 500, 1);
    CREATE VIEW v_person AS SELECT * FROM tb_person;
    CREATE SCHEMA app;
    CREATE FUNCTION app.raise(person_id int, by int) RETURNS int LANGUAGE sql AS
    'UPDATE tb_person SET salary = salary + $2 WHERE id = $1 RETURNING salary';";

const CACHED: &str = "query People { people { id } }";

fn options(database: &TestDatabase) -> AppOptions {
    let operations = OperationsConfig {
        rust_endpoint: true,
        ..OperationsConfig::default()
    };
    let config = SvcConfig {
        operations,
        ..SvcConfig::default()
    };
    let cached = Operation::new(CACHED)
        .sql("SELECT jsonb_agg(v_person ORDER BY id) AS people FROM v_person");
    AppOptions::new()
        .config(config)
        .database_url(database.url())
        .queries(queries![people, headcount, listed, open])
        .mutations(mutations![raise, touch])
        .operations([cached])
}

/// Each guarded field with what it requires, and a user who has it.
const GUARDED: [(&str, &str, &str, &str); 6] = [
    ("{ people { id } }", "ada", "", ""),
    (CACHED, "ada", "", ""),
    (
        "{ headcount { count } }",
        "ada;;people:count",
        "ada;people:count;people",
        "required_permission",
    ),
    (
        "{ listed { id } }",
        "ada;clerk;people:write",
        "ada;clerk;none",
        "required_permissions",
    ),
    (
        "mutation { raise(person_id: 1, by: 1) }",
        "ada;admin",
        "ada;Admin;admin",
        "required_role",
    ),
    ("mutation { touch }", "ada;x,admin", "ada;", "required_role"),
];

#[tokio::test]
async fn an_unmet_guard_runs_nothing() {
    let database = TestDatabase::copy_of("guards", SQL).await;
    let calls = Calls::default();
    let app = serve(options(&database).data(calls.clone())).await;
    for (query, _, poor, required) in GUARDED {
        let answer = ask_as(&app, "/graphql", "", query, &json!({})).await;
        assert_eq!(codes(&answer), ["UNAUTHENTICATED"], "{query}: {answer}");
        if poor.is_empty() {
            continue;
        }
        let answer = ask_as(&app, "/graphql", poor, query, &json!({})).await;
        assert_eq!(codes(&answer), ["FORBIDDEN"], "{query}: {answer}");
        assert!(
            !answer["errors"][0]["extensions"][required].is_null(),
            "{query}: {answer}"
        );
    }
    let answer = ask_as(&app, "/graphql/rust", "", "{ people { id } }", &json!({})).await;
    assert_eq!(codes(&answer), ["UNAUTHENTICATED"]);
    assert_eq!(calls.0.load(Ordering::Relaxed), 0);
    assert_eq!(
        database.statements("v_person").await + database.statements("raise").await,
        0
    );
}

#[tokio::test]
async fn a_met_guard_runs_the_operation() {
    let database = TestDatabase::copy_of("guards", SQL).await;
    let app = serve(options(&database).data(Calls::default())).await;
    for (query, rich, ..) in GUARDED {
        let answer = ask_as(&app, "/graphql", rich, query, &json!({})).await;
        assert!(answer.get("errors").is_none(), "{query}: {answer}");
    }
}

#[tokio::test]
async fn all_guards_must_hold_and_extensions_name_the_failed_one() {
    let database = TestDatabase::copy_of("guards", SQL).await;
    let app = serve(options(&database).data(Calls::default())).await;
    for (user, key, value) in [
        (
            "ada;;people:read",
            "required_roles",
            json!(["admin", "clerk"]),
        ),
        (
            "ada;admin",
            "required_permissions",
            json!(["people:read", "people:write"]),
        ),
    ] {
        let answer = ask_as(&app, "/graphql", user, "{ listed { id } }", &json!({})).await;
        assert_eq!(
            answer["errors"][0]["extensions"],
            json!({ "code": "FORBIDDEN", key: value }),
            "{answer}"
        );
    }
}

/// A guarded field of a row is null, and the rest is answered.
#[tokio::test]
async fn fields_relations_and_methods_are_guarded() {
    let database = TestDatabase::copy_of("guards", SQL).await;
    let calls = Calls::default();
    let app = serve(options(&database).data(calls.clone())).await;
    let query = "{ open(where: { id: { eq: 2 } }) { id salary boss { id } badge } }";
    let ask =
        async |user: &str| -> Value { ask_as(&app, "/graphql", user, query, &json!({})).await };
    let answer = ask("").await;
    let nothing = json!([{ "id": 2, "salary": null, "boss": null, "badge": null }]);
    assert_eq!(answer["data"]["open"], nothing, "{answer}");
    assert_eq!(codes(&answer), ["UNAUTHENTICATED"; 3]);
    assert_eq!(calls.0.load(Ordering::Relaxed), 0);
    let answer = ask("ada;admin;people:read").await;
    let all = json!({ "open": [{ "id": 2, "salary": 500, "boss": { "id": 1 }, "badge": 200 }] });
    assert_eq!(answer, json!({ "data": all }));
    let answer = ask("ada;;people:read").await;
    let some = json!([{ "id": 2, "salary": null, "boss": { "id": 1 }, "badge": 200 }]);
    assert_eq!(answer["data"]["open"], some, "{answer}");
    assert_eq!(answer["errors"][0]["path"], json!(["open", 0, "salary"]));
    assert_eq!(
        answer["errors"][0]["extensions"],
        json!({ "code": "FORBIDDEN", "required_role": "admin", "field": "Person.salary" })
    );
    let answer = ask_as(
        &app,
        "/graphql",
        "ada",
        "{ open(order_by: [{ salary: ASC }]) { id } }",
        &json!({}),
    )
    .await;
    assert_eq!(
        codes(&answer),
        ["FORBIDDEN"],
        "an order tells the values: {answer}"
    );
}

#[test]
fn the_schema_shows_guard_directives_if_configured() {
    let options = || AppOptions::new().queries(queries![people, listed]);
    let plain = options().sdl().unwrap();
    assert!(!plain.contains('@'), "{plain}");
    let sdl = options().guard_directives(true).sdl().unwrap();
    for line in [
        "  ): [Person!]! @requiresAuth\n",
        r#"@requiresAnyRole(roles: ["admin","clerk"]) @requiresAnyPermission(permissions: ["people:read","people:write"])"#,
        r#"  salary: Int @requiresRole(role: "admin")"#,
        r#"  boss: Person @requiresPermission(permission: "people:read")"#,
        "  badge: Int @requiresAuth",
        "directive @requiresRole(role: String!) repeatable on FIELD_DEFINITION",
    ] {
        assert!(sdl.contains(line), "{line}: {sdl}");
    }
}

#[test]
fn the_schema_describes_required_roles_and_permissions() {
    let sdl = AppOptions::new()
        .queries(queries![people, listed])
        .sdl()
        .unwrap();
    for line in [
        "Requires a user.",
        "All who work here.",
        "Requires the role `admin` or `clerk`. Requires the permission `people:read` or `people:write`.",
        "Requires the permission `people:read`.",
        "Requires the role `admin`.",
    ] {
        assert!(sdl.contains(line), "{line}: {sdl}");
    }
}
