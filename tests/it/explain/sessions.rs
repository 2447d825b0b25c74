//! Explanations of services with session variables and row-level security, as an ordinary role.

use serde_json::{Value, json};
use svc::db::SessionVariables;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_slip")]
struct Slip {
    id: i32,
    body: String,
}

#[svc_type(sql_source = "v_locked")]
struct Locked {
    id: i32,
}

#[svc::query]
async fn slips() -> Vec<Slip>;
#[svc::query]
async fn locked() -> Vec<Locked>;

// The policy fails for a session without the variable, and the role may read the view alone.
const SQL: &str = "
    CREATE TABLE tb_slip (id int PRIMARY KEY, tenant text NOT NULL, body text NOT NULL);
    INSERT INTO tb_slip VALUES (1, 'red', 'of red'), (2, 'blue', 'of blue');
    ALTER TABLE tb_slip ENABLE ROW LEVEL SECURITY;
    CREATE FUNCTION tenant() RETURNS text STABLE LANGUAGE sql AS $$ SELECT current_setting('app.tenant') $$;
    CREATE POLICY tenant ON tb_slip USING (tenant = tenant());
    CREATE VIEW v_slip WITH (security_invoker = true) AS SELECT * FROM tb_slip;
    CREATE VIEW v_locked AS SELECT 1 AS id;
    DO $$ BEGIN
        EXECUTE format('CREATE ROLE %I LOGIN', 'slips_' || current_database());
        EXECUTE format('GRANT SELECT ON tb_slip, v_slip, v_locked TO %I', 'slips_' || current_database());
    END $$;";

async fn serve(database: &TestDatabase) -> App {
    let variables = SessionVariables::new().header("app.tenant", "x-tenant");
    let url = format!("{}&user=slips_{}", database.url(), database.name());
    let options = AppOptions::new()
        .database_url(url)
        .session_variables(variables)
        .queries(queries![slips, locked]);
    App::serve(options).await
}

async fn ask(app: &App, tenant: &str, query: &str) -> (String, Value) {
    let body = json!({ "query": query, "extensions": { "explain": true } }).to_string();
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    let reply = app
        .send(request.header("x-tenant", tenant).body(body))
        .await;
    let json = reply.json();
    (reply.text, json)
}

#[tokio::test]
async fn plans_use_the_session_and_reveal_no_other_tenant() {
    let database = TestDatabase::new(SQL).await;
    let app = serve(&database).await;
    for (tenant, other) in [("red", "blue"), ("blue", "red")] {
        let (text, json) = ask(
            &app,
            tenant,
            r#"{ slips(where: {body: {like: "%e%"}}) { body } }"#,
        )
        .await;
        assert_eq!(
            json["data"]["slips"],
            json!([{ "body": format!("of {tenant}") }])
        );
        let statement = &json["extensions"]["explain"][0]["statements"][0];
        assert!(statement["plan"].is_array(), "{json}");
        assert!(
            statement["plan"].to_string().contains("tenant"),
            "the policy is in the plan: {json}"
        );
        assert!(!text.contains(other), "{text}");
    }
}

#[tokio::test]
async fn an_unreadable_view_is_explained_by_its_permission_error() {
    let database = TestDatabase::new(SQL).await;
    let app = serve(&database).await;
    ask(&app, "red", "{ locked { id } }").await;
    let revoke = format!(
        "REVOKE SELECT ON v_locked FROM \"slips_{}\"",
        database.name()
    );
    database.execute(&revoke).await;
    let (_, json) = ask(&app, "red", "{ locked { id } }").await;
    assert!(json["errors"].is_array(), "{json}");
    let entry = &json["extensions"]["explain"][0];
    assert_eq!(
        (&entry["way"], &entry["hints"]),
        (&json!("planned"), &json!([]))
    );
    for statement in entry["statements"].as_array().unwrap() {
        assert_eq!(statement["rows"], Value::Null);
        assert_eq!(statement["noPlan"], "permission denied for view v_locked");
    }
}
