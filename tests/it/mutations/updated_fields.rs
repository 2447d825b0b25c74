//! The fields that an update names as changed are those of the schema.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_agent")]
struct Agent {
    id: i32,
}

#[svc_type(sql_source = "v_ticket")]
struct Ticket {
    id: i32,
    #[svc(stored = "resolved_at")]
    closed_at: Option<String>,
    #[relation]
    assignee: Option<One<Agent>>,
    #[relation(from = "reported_by")]
    reporter: Option<One<Agent>>,
}

#[svc_input]
struct TicketPatch {
    resolved_at: Patch<String>,
    assignee_id: Patch<i32>,
    reported_by: Patch<i32>,
}

#[svc_result]
enum ChangeResult {
    Success { ticket: Ticket },
    Error,
}

#[svc::query]
async fn tickets() -> Vec<Ticket>;
#[svc::mutation(update = "tb_ticket")]
async fn change(id: i32, input: TicketPatch) -> ChangeResult;

const SQL: &str = "
    CREATE TABLE tb_agent (id int PRIMARY KEY);
    CREATE TABLE tb_ticket (id int PRIMARY KEY, resolved_at text, assignee_id int, reported_by int);
    CREATE VIEW v_agent AS SELECT * FROM tb_agent;
    CREATE VIEW v_ticket AS SELECT * FROM tb_ticket;
    INSERT INTO tb_ticket (id) VALUES (1);";

#[tokio::test]
async fn the_key_of_a_relation_is_named_as_its_field() {
    let database = TestDatabase::new(SQL).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    let app = App::serve(
        options
            .queries(queries![tickets])
            .types(types![Agent])
            .mutations(mutations![change]),
    )
    .await;
    let mutation =
        "mutation { change(id: 1, input: {resolvedAt: \"now\", assigneeId: 1, reportedBy: null}) {
        ... on ChangeSuccess { updatedFields } } }";
    let data = app.query(mutation).await.data();
    assert_eq!(
        data["change"]["updatedFields"],
        json!(["closedAt", "assignee", "reporter"])
    );
}
