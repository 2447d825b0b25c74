//! Tests that run as an ordinary role, whom policies bind.

use svc::db::SessionVariables;
use svc::prelude::*;
use svc::serde_json::json;
use svc::testing::{Client, Database, Setup};

const NOTES: &str = "
    CREATE TABLE tb_note (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        tenant text NOT NULL DEFAULT current_setting('app.tenant', true),
        body text NOT NULL
    );
    CREATE INDEX ON tb_note (tenant);
    ALTER TABLE tb_note ENABLE ROW LEVEL SECURITY;
    CREATE POLICY tenant ON tb_note USING (tenant = (SELECT current_setting('app.tenant', true)));
    CREATE VIEW v_note WITH (security_invoker = true) AS SELECT id, body FROM tb_note;
    INSERT INTO tb_note (tenant, body) VALUES ('north', 'snow'), ('south', 'sand')";

/// The rights that a migration of the program gives: it may read, and no more.
const GRANTS: &str =
    "; GRANT USAGE ON SCHEMA public TO reading; GRANT SELECT ON tb_note, v_note TO reading";

#[svc_type(sql_source = "v_note")]
struct Note {
    id: Uuid,
    body: String,
}

#[svc_input]
struct NewNote {
    body: String,
}

#[svc::query]
async fn notes() -> Vec<Note>;

#[svc::mutation(insert = "tb_note")]
async fn create_note(input: NewNote) -> Note;

async fn client(database: &Database) -> Client {
    let variables = SessionVariables::new().header("app.tenant", "x-tenant");
    let options = database
        .options()
        .queries(queries![notes])
        .mutations(mutations![create_note]);
    // A service in production does not start where policies do not bind it.
    let config = SvcConfig {
        environment: svc::Environment::Production,
        ..SvcConfig::default()
    };
    let mut config = SvcConfig {
        database: svc::DatabaseConfig::default(),
        ..config
    };
    config.database.url = Some(database.url().to_owned());
    Client::new(
        options
            .config(config)
            .session_variables(variables)
            .open_to_everyone(),
    )
    .await
    .unwrap()
}

#[svc::test(sql = NOTES, role = "app")]
async fn policies_bind_the_service(database: Database) {
    let client = client(&database).await;
    let north = client.with_header("x-tenant", "north");
    assert_eq!(
        north.query("{ notes { body } }").await.data(),
        &json!({ "notes": [{ "body": "snow" }] })
    );
    let create = "mutation { create_note(input: { body: \"ice\" }) { body } }";
    assert_eq!(
        north.query(create).await.data()["create_note"]["body"],
        "ice"
    );
    assert_eq!(
        north.query("{ notes { body } }").await.data()["notes"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(
        client.query("{ notes { body } }").await.data(),
        &json!({ "notes": [] })
    );
    assert_ne!(database.url(), database.owner_url());
}

#[tokio::test]
async fn the_role_has_only_the_grants_of_the_set_up() {
    let setup = Setup::new().sql(format!("{NOTES}{GRANTS}")).role("reading");
    let database = Database::create(&setup).await.unwrap();
    let north = client(&database).await.with_header("x-tenant", "north");
    assert_eq!(
        north.query("{ notes { body } }").await.data(),
        &json!({ "notes": [{ "body": "snow" }] })
    );
    let answer = north
        .query("mutation { create_note(input: { body: \"ice\" }) { body } }")
        .await;
    assert_eq!(answer.code(), "INTERNAL_SERVER_ERROR", "{}", answer.text());
}
