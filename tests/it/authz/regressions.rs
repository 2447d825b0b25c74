//! Holes that other frameworks have had, each with its name.

use base64::Engine as _;
use serde_json::{Value, json};
use svc::authz::{AuthorizationCacheConfig, OperationType};
use svc::prelude::*;
use svc::{DatabaseConfig, SvcConfig};
use svc_tests::{App, TestDatabase};

use super::principals::{ask_as, serve};
use super::service::codes;

#[svc_interface(fields(id: i32, #[svc(name = "mail")] email: Option<String>), sql_source = "v_account")]
enum Account {
    Member(Member),
}

/// Its name in the schema and that of its field are not those in Rust.
#[svc_type(sql_source = "v_member", name = "Member", authorize_fields = ["email", "hint"])]
struct Member {
    id: i32,
    name: String,
    #[svc(name = "mail")]
    email: Option<String>,
    #[svc::requires_role("admin")]
    salary: Option<i32>,
    #[svc::authorize_field(is_oneself)]
    phone: Option<String>,
    boss_id: Option<i32>,
    #[relation]
    boss: Option<One<Member>>,
}

#[svc_type]
impl Member {
    fn hint(&self, length: i32) -> Option<String> {
        Some(
            "secret-hint"
                .chars()
                .take(length.try_into().unwrap_or(0))
                .collect(),
        )
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a check gets the request")]
fn is_oneself(member: &Member, request: AuthorizationRequest) -> bool {
    request
        .context()
        .header("x-user")
        .is_some_and(|user| user.starts_with(&member.name))
}

#[svc::query]
async fn members() -> Vec<Member>;
#[svc::query]
async fn accounts() -> Vec<Account>;
#[svc::query]
async fn page() -> Connection<Member>;
#[svc::query]
async fn statistics() -> Aggregate<Member>;
#[svc::query]
async fn hidden() -> Connection<Hidden>;

#[svc::query]
async fn keyed() -> Connection<Keyed>;

/// Its key is checked for each object.
#[svc_type(sql_source = "v_member")]
struct Keyed {
    #[svc::authorize_field(is_nobodys)]
    id: i32,
    name: String,
}

fn is_nobodys(_: &Keyed, _: AuthorizationRequest) -> bool {
    false
}

/// Its key is gated, and every cursor holds the key.
#[svc_type(sql_source = "v_member", authorize_fields = ["id"])]
struct Hidden {
    id: i32,
    name: String,
}

const SQL: &str =
    "CREATE TABLE tb_member (id int PRIMARY KEY, name text, email text, salary int, phone text, boss_id int);
    INSERT INTO tb_member VALUES (1, 'ada', 'secret-1', 900, 'p-1', 2), (2, 'bob', 'secret-2', 800, 'p-2', 2);
    CREATE VIEW v_member AS SELECT * FROM tb_member;
    CREATE VIEW v_account AS SELECT 'Member' AS __typename, * FROM tb_member;";

/// A service whose policy knows no email, and no hint of more than three characters.
fn options(database: &TestDatabase) -> AppOptions {
    let policy = async |request: AuthorizationRequest| match request.operation_type() {
        OperationType::Field if request.operation_name() == "Member.hint" => {
            Ok(request.argument::<i32>("length")? < 4)
        }
        kind => Ok::<_, Error>(kind != OperationType::Field),
    };
    AppOptions::new()
        .database_url(database.url())
        .queries(queries![members, accounts, page, statistics, hidden, keyed])
        .authorizer(policy)
}

async fn database() -> TestDatabase {
    TestDatabase::copy_of("regressions", SQL).await
}

async fn ask(app: &App, user: &str, query: &str) -> Value {
    ask_as(app, "/graphql", user, query, &json!({})).await
}

/// Strapi (CVE-2023-22894 and similar): a filter through a relation, and the number of pages.
#[tokio::test]
async fn relation_filters_and_totals_reveal_no_denied_value() {
    let database = database().await;
    let app = serve(options(&database)).await;
    for query in [
        r#"{ page(where: { boss: { mail: { startswith: "secret" } } }) { total_count } }"#,
        r#"{ page(where: { OR: [{ boss: { boss: { mail: { eq: "secret-2" } } } }] }) { page_info { has_next_page } } }"#,
        r#"{ page(where: { boss: { salary: { gt: 850 } } }) { total_count } }"#,
    ] {
        let answer = ask(&app, "ada;reader", query).await;
        assert_eq!(
            (&answer["data"], codes(&answer)),
            (&Value::Null, vec!["FORBIDDEN"]),
            "{query}: {answer}"
        );
    }
    let checked = r#"{ page(where: { boss: { phone: { eq: "p-2" } } }) { total_count } }"#;
    assert_eq!(
        codes(&ask(&app, "ada", checked).await),
        ["GRAPHQL_VALIDATION_FAILED"],
        "there is no such filter"
    );
    assert_eq!(database.statements("v_member").await, 0);
}

/// Data API Builder: the cursor contained the column of a forbidden order, encoded as base64.
#[tokio::test]
async fn a_cursor_contains_no_denied_value() {
    let database = database().await;
    let app = serve(options(&database)).await;
    for query in [
        "{ page(order_by: [{ mail: ASC }]) { edges { cursor } } }",
        "{ page(order_by: [{ salary: DESC }]) { page_info { start_cursor end_cursor } } }",
        "{ page(order_by: [{ boss: { mail: ASC } }]) { edges { cursor } } }",
    ] {
        let answer = ask(&app, "ada", query).await;
        assert_eq!(
            (&answer["data"], codes(&answer)),
            (&Value::Null, vec!["FORBIDDEN"]),
            "{query}: {answer}"
        );
    }
    let answer = ask(
        &app,
        "ada",
        "{ page(order_by: [{ name: ASC }]) { edges { cursor } } }",
    )
    .await;
    for query in [
        "{ hidden { edges { cursor } } }",
        "{ hidden { page_info { end_cursor } } }",
    ] {
        assert_eq!(
            codes(&ask(&app, "ada", query).await)[0],
            "FORBIDDEN",
            "{query}"
        );
    }
    for query in [
        "{ keyed { edges { cursor } } }",
        "{ keyed { page_info { start_cursor } } }",
    ] {
        assert_eq!(
            codes(&ask(&app, "ada", query).await)[0],
            "FIELD_AUTHORIZATION_ERROR",
            "{query}"
        );
    }
    assert_eq!(
        ask(&app, "ada", "{ hidden { total_count } }").await["data"]["hidden"]["total_count"],
        2
    );
    for edge in answer["data"]["page"]["edges"].as_array().unwrap() {
        let cursor = edge["cursor"].as_str().unwrap();
        let engine = base64::engine::general_purpose::URL_SAFE_NO_PAD;
        let cursor = engine.decode(cursor.trim_end_matches('=')).unwrap();
        let text = String::from_utf8_lossy(&cursor).into_owned();
        assert!(text.contains("ada") || text.contains("bob"), "{text}");
        assert!(!text.contains("secret") && !text.contains("p-"), "{text}");
    }
}

/// Platformatic: a field hidden from the response was usable in `where` and in counts.
#[tokio::test]
async fn a_denied_field_cannot_be_filtered_or_counted() {
    let database = database().await;
    let app = serve(options(&database)).await;
    for query in [
        r#"{ members(where: { mail: { like: "secret%" } }) { id } }"#,
        r#"{ statistics(where: { NOT: { mail: { isnull: true } } }) { count } }"#,
        "{ statistics { groups(order_by: [{ max: { salary: DESC } }]) { count } } }",
        "{ statistics { groups(by: [MAIL]) { key { mail } count } } }",
    ] {
        let answer = ask(&app, "ada", query).await;
        assert!(
            codes(&answer).contains(&"FORBIDDEN") && !answer.to_string().contains("secret"),
            "{query}: {answer}"
        );
    }
}

/// Apollo (CVE-2025-64530 and similar): a rule was lost if its type or field had another name, or
/// was selected through an interface.
#[tokio::test]
async fn renames_and_interfaces_keep_the_rules_of_a_field() {
    let database = database().await;
    let app = serve(options(&database)).await;
    for query in [
        "{ accounts { mail } }",
        "{ accounts { ... on Member { x: mail } } }",
        "{ accounts { ...F } } fragment F on Account { mail }",
        "{ members { mail } }",
    ] {
        let answer = ask(&app, "ada", query).await;
        assert!(
            codes(&answer).contains(&"FORBIDDEN") && !answer.to_string().contains("secret"),
            "{query}: {answer}"
        );
        assert_eq!(
            answer["errors"][0]["extensions"]["field"], "Member.mail",
            "{answer}"
        );
    }
}

/// Hasura: a user with several roles, one of them composed of others, got more than any of the
/// roles.
#[tokio::test]
async fn combined_roles_grant_nothing_extra() {
    let database = database().await;
    let app = serve(options(&database)).await;
    for roles in [
        "reader,author",
        "author,editor,reader",
        "admins",
        "Admin",
        "reader,admin,",
        " admin",
    ] {
        let answer = ask(
            &app,
            &format!("ada;{roles}"),
            "{ members { boss { boss { salary } } } }",
        )
        .await;
        let is_admin = roles.split(',').any(|role| role == "admin");
        assert_eq!(codes(&answer).is_empty(), is_admin, "{roles}: {answer}");
    }
}

/// graphql-shield: a cache of rules ignored the arguments and the parent of a field.
#[tokio::test]
async fn a_cached_decision_applies_to_its_arguments_and_object() {
    let database = database().await;
    let cache = AuthorizationCacheConfig::new(|_| Some("everyone".to_owned()));
    let app = serve(options(&database).authorization_cache(cache)).await;
    for _ in 0..3 {
        let query =
            "{ members(order_by: [{ id: ASC }]) { a: hint(length: 3) b: hint(length: 6) phone } }";
        let answer = ask(&app, "bob", query).await;
        let rows = json!([
            { "a": "sec", "b": null, "phone": null },
            { "a": "sec", "b": null, "phone": "p-2" },
        ]);
        assert_eq!(answer["data"]["members"], rows, "{answer}");
        let answer = ask(
            &app,
            "ada",
            "{ members(order_by: [{ id: ASC }]) { phone } }",
        )
        .await;
        assert_eq!(
            answer["data"]["members"],
            json!([{ "phone": "p-1" }, { "phone": null }]),
            "{answer}"
        );
    }
}

/// PostgreSQL (CVE-2024-10976): a prepared statement kept the policy of another user.
#[tokio::test]
async fn one_prepared_statement_gives_each_user_their_own_rows() {
    let database = database().await;
    let pool = DatabaseConfig {
        pool_size: 1,
        ..DatabaseConfig::default()
    };
    let by_name = async |request: AuthorizationRequest| {
        AuthorizationDecision::allow_filtered([(
            "name",
            request.context().header("x-user").map(str::to_owned),
        )])
    };
    let options = AppOptions::new().config(SvcConfig {
        database: pool,
        ..SvcConfig::default()
    });
    let app = serve(
        options
            .database_url(database.url())
            .queries(queries![members])
            .authorizer(by_name),
    )
    .await;
    for _ in 0..20 {
        for (user, own) in [
            ("ada", json!([{ "id": 1 }])),
            ("bob", json!([{ "id": 2 }])),
            ("eve", json!([])),
        ] {
            assert_eq!(
                ask(&app, user, "{ members { id } }").await["data"]["members"],
                own,
                "{user}"
            );
        }
    }
    assert!(
        database.texts("v_member").await.len() <= 2,
        "the statement is kept for all of them"
    );
}
