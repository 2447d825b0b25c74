//! Gates hold for values, whatever the fields are called that hold them.

use serde_json::{Value, json};
use svc::authz::{Authorizer, OperationType};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

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

/// The code has another Rust name than that of books.
#[svc_type(sql_source = "v_film", authorize_fields = ["secret"])]
struct Film {
    id: i32,
    #[svc(name = "code", stored = "code")]
    secret: Option<String>,
}

/// The key has another name, and every cursor holds it.
#[svc_type(sql_source = "v_member", authorize_fields = ["number", "mail"])]
struct Member {
    #[svc(stored = "id")]
    number: i32,
    name: String,
    #[svc(stored = "email")]
    mail: Option<String>,
}

#[svc_type(sql_source = "v_member")]
struct Checked {
    id: i32,
    #[relation(from = "boss_id", to = "id")]
    #[svc::authorize_field(is_nobodys)]
    boss: Option<One<Checked>>,
}

fn is_nobodys(_: &Checked, _: AuthorizationRequest) -> bool {
    false
}

#[svc_type(sql_source = "v_member")]
struct Owned {
    id: i32,
    #[relation(from = "boss_id", to = "id")]
    boss: Option<One<CheckedKey>>,
}

#[svc_type(sql_source = "v_member")]
struct CheckedKey {
    #[svc::authorize_field(is_no_key)]
    id: i32,
}

fn is_no_key(_: &CheckedKey, _: AuthorizationRequest) -> bool {
    false
}

#[svc_input]
struct MemberPatch {
    name: Option<String>,
}

#[svc_input]
struct NewMember {
    id: i32,
    email: String,
}

#[svc::query]
async fn items() -> Vec<Item>;
#[svc::query]
async fn statistics() -> Aggregate<Item>;
#[svc::query]
async fn members() -> Connection<Member>;
#[svc::mutation(update = "tb_member")]
async fn rename(email: String, input: MemberPatch) -> Member;
#[svc::mutation(delete = "tb_member")]
async fn remove(id: i32) -> Member;
#[svc::mutation(upsert = "tb_member", conflict = "email", on_conflict = nothing)]
async fn keep(input: NewMember) -> Member;

#[svc::query(order_by = "-email")]
async fn by_mail() -> Connection<Member>;
#[svc::query(order_by = "-email")]
async fn listed_by_mail() -> Vec<Member>;
#[svc::query]
async fn teams() -> Vec<Team>;

#[svc_type(sql_source = "v_team")]
struct Team {
    id: i32,
    #[relation(from = "id", to = "team_id", order_by = "email", connection)]
    members: Many<Member>,
    #[relation(from = "id", to = "team_id", order_by = "name", connection)]
    named: Many<Member>,
}

#[svc::subscription(channel = "checked")]
async fn by_checked_relation(boss: Option<i32>) -> Checked;
#[svc_type(sql_source = "v_member", authorize_fields = ["boss"])]
struct Twice {
    id: i32,
    #[relation(from = "boss_id", to = "id")]
    boss: Option<One<Member>>,
}

#[svc::mutation(upsert = "tb_member", conflict = ["id", "email"])]
async fn put(input: NewMember) -> Member;
#[svc::subscription(channel = "twice")]
async fn by_two_gates(boss: Option<i32>) -> Twice;
#[svc::subscription(channel = "owned")]
async fn by_checked_key(boss: Option<i32>) -> Owned;

const SQL: &str =
    "CREATE TABLE tb_member (id int PRIMARY KEY, name text, email text UNIQUE, boss_id int);
    INSERT INTO tb_member VALUES (1, 'ada', 'secret-1', 2), (2, 'bob', 'secret-2', NULL);
    CREATE VIEW v_member AS SELECT * FROM tb_member;
    CREATE VIEW v_book AS SELECT 1 AS id, 'open' AS code;
    CREATE VIEW v_film AS SELECT 2 AS id, 'secret' AS code;
    CREATE VIEW v_item AS SELECT 'Book' AS __typename, id, code FROM v_book
        UNION ALL SELECT 'Film', id, code FROM v_film;";

/// Those with a key may have all fields.
struct Keyed;

impl Authorizer for Keyed {
    async fn authorize_operation(
        &self,
        request: AuthorizationRequest,
    ) -> Result<AuthorizationDecision> {
        let is_open = request.operation_type() != OperationType::Field;
        let decides = |allowed| {
            if allowed {
                AuthorizationDecision::allow()
            } else {
                AuthorizationDecision::deny()
            }
        };
        Ok(decides(
            is_open || request.context().header("x-key").is_some(),
        ))
    }
}

async fn ask(app: &App, has_key: bool, document: &str) -> Value {
    let request = app.request("POST", "/graphql");
    let request = if has_key {
        request.header("x-key", "1")
    } else {
        request
    };
    app.send(request.json(&json!({ "query": document })))
        .await
        .json()
}

#[tokio::test]
async fn a_gated_value_is_denied_under_every_name() {
    let database = TestDatabase::copy_of("other_names", SQL).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .queries(queries![items, statistics, members])
        .mutations(mutations![rename, remove, keep])
        .authorizer(Keyed);
    let app = App::serve(options).await;
    for document in [
        r#"{ items(where: { code: { startswith: "s" } }) { id } }"#,
        "{ items(order_by: [{ code: ASC }]) { id } }",
        "{ statistics { max { code } } }",
        "{ statistics { groups(by: [CODE]) { count } } }",
        "{ members { edges { cursor } } }",
        "{ members { page_info { end_cursor } } }",
        r#"mutation { rename(email: "secret-1", input: { name: "eve" }) { name } }"#,
        r#"mutation { keep(input: { id: 7, email: "secret-1" }) { name } }"#,
        "mutation { remove(id: 3) { name } }",
    ] {
        let denied = ask(&app, false, document).await;
        let codes = denied["errors"]
            .as_array()
            .unwrap_or_else(|| panic!("{document}: {denied}"));
        assert!(
            codes
                .iter()
                .all(|error| error["extensions"]["code"] == "FORBIDDEN"),
            "{document}: {denied}"
        );
        assert!(
            !denied.to_string().contains("secret"),
            "{document}: {denied}"
        );
        let allowed = ask(&app, true, &document.replace("id: 3", "id: 2")).await;
        assert_eq!(allowed.get("errors"), None, "{document}: {allowed}");
    }
    let open = ask(&app, false, "{ members { nodes { name } total_count } }").await;
    assert_eq!(
        open["data"]["members"],
        json!({ "nodes": [{ "name": "eve" }], "total_count": 1 })
    );
}

#[test]
fn operations_that_reveal_gated_values_are_startup_errors() {
    let options = AppOptions::new()
        .queries(queries![members, by_mail, listed_by_mail, teams])
        .mutations(mutations![put])
        .subscriptions(subscriptions![
            by_checked_relation,
            by_checked_key,
            by_two_gates
        ]);
    let errors = options.sdl().unwrap_err().to_string();
    let of = |part: &str| {
        errors
            .lines()
            .filter(|line| line.contains(part))
            .collect::<Vec<_>>()
    };
    let told = of("cursors would tell its value");
    assert_eq!(told.len(), 2, "{errors}");
    assert!(
        told[0].contains("Team::members_connection` are ordered by `email`"),
        "{errors}"
    );
    assert!(
        told[1].contains("by_mail` are ordered by `email`"),
        "{errors}"
    );
    let checked = of("`authorize_field` checks");
    assert_eq!(checked.len(), 2, "{errors}");
    assert!(
        checked[0].contains("by_checked_relation") && checked[1].contains("by_checked_key"),
        "{errors}"
    );
    let several = of("by several gated values");
    assert!(
        several[0].contains("other_names::put`")
            && several[1].contains("other_names::by_two_gates`"),
        "{errors}"
    );
    assert_eq!(errors.lines().count(), 7, "{errors}");
}
