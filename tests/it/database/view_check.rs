//! The schema beside the database: the log, `/ready` in development, and
//! `svc::testing::check_views` say the same.

use std::sync::LazyLock;

use svc::prelude::*;
use svc::testing::{Finding, Severity, check_views};
use svc_tests::{App, Log, TestDatabase};

#[svc_enum]
enum State {
    Open,
    Closed,
}

#[svc_type(sql_source = "v_ticket")]
struct Ticket {
    id: i32,
    title: String,
    note: Option<String>,
    #[svc(non_null)]
    vouched: String,
    state: State,
    #[relation(from = "owner_id")]
    owner: One<Owner>,
    #[relation(to = "ticket_id", order_by = "-place")]
    steps: Many<Step>,
}

#[svc_type(sql_source = "tb_owner")]
struct Owner {
    id: Uuid,
    name: String,
}

#[svc_type(sql_source = "v_step")]
struct Step {
    id: i32,
    ticket_id: i32,
}

#[svc::query(order_by = "-titel")]
async fn tickets() -> Vec<Ticket>;
#[svc::query]
async fn owners() -> Vec<Owner>;
#[svc::query]
async fn steps() -> Vec<Step>;
#[svc::mutation(function = "app.close_ticket")]
async fn close_ticket(id: i32) -> bool;

/// All is well, with a view of each kind.
const GOOD: &str = "
CREATE TYPE state AS ENUM ('OPEN', 'CLOSED');
CREATE TABLE tb_owner (id uuid PRIMARY KEY, name text NOT NULL);
CREATE TABLE tb_ticket (id integer PRIMARY KEY, title text NOT NULL, titel text, note text, vouched text,
    state state NOT NULL, owner_id uuid NOT NULL REFERENCES tb_owner);
CREATE VIEW v_ticket AS SELECT id, title, titel, note, vouched, state, owner_id FROM tb_ticket;
CREATE VIEW v_step AS SELECT 1 AS place, jsonb_build_object('id', 1, 'ticket_id', 1) AS data;
CREATE SCHEMA app;
CREATE FUNCTION app.close_ticket(id integer) RETURNS boolean LANGUAGE sql AS 'SELECT true';";

static BAD: LazyLock<String> = LazyLock::new(|| {
    GOOD.replace("title text NOT NULL, titel text", "title text")
        .replace("title, titel, note", "title, note")
        .replace("'CLOSED'", "'LOST'")
        .replace(
            "owner_id uuid NOT NULL REFERENCES tb_owner",
            "owner_id integer",
        )
        .replace("1 AS place, ", "")
        .replace("(id integer) RETURNS", "(id integer, why text) RETURNS")
});

fn options() -> AppOptions {
    let options = AppOptions::new()
        .queries(queries![tickets, owners, steps])
        .mutations(mutations![close_ticket]);
    options.config(SvcConfig {
        environment: svc::Environment::Development,
        ..SvcConfig::default()
    })
}

/// Each finding as its severity, place and source, and a part of its cause.
const FOUND: [(Severity, &str, &str, &str); 8] = [
    (
        Severity::Fault,
        "Mutation.closeTicket",
        "app.close_ticket",
        "is called as `app.close_ticket(scalar)`",
    ),
    (
        Severity::Fault,
        "Ticket.steps",
        "v_step",
        "the default order names `place`: `v_step` has neither a column",
    ),
    (
        Severity::Fault,
        "Query.tickets",
        "v_ticket",
        "the default order names `titel`: `v_ticket` has neither a column",
    ),
    (
        Severity::Fault,
        "Ticket.owner",
        "v_ticket",
        "`owner_id` of `v_ticket` is integer, and `id` of `tb_owner` is uuid",
    ),
    (
        Severity::Hint,
        "Ticket.owner",
        "v_ticket",
        "the column `owner_id` of `tb_ticket` may be null",
    ),
    (
        Severity::Hint,
        "Ticket.state",
        "v_ticket",
        "`state` has no label `CLOSED`, which CLOSED stands for",
    ),
    (
        Severity::Hint,
        "Ticket.state",
        "v_ticket",
        "`state` has the label `LOST`, which no value stands for",
    ),
    (
        Severity::Hint,
        "Ticket.title",
        "v_ticket",
        "the column `title` of `tb_ticket` may be null",
    ),
];

#[track_caller]
fn compare(found: &[Finding]) {
    assert_eq!(found.len(), FOUND.len(), "{found:#?}");
    for (finding, (severity, field, source, cause)) in found.iter().zip(&FOUND) {
        assert_eq!(
            (
                finding.severity,
                finding.field.as_str(),
                finding.source.as_str()
            ),
            (*severity, *field, *source)
        );
        assert!(finding.cause.contains(cause), "no {cause} in {finding}");
        assert!(!finding.remedy.is_empty(), "{finding}");
    }
}

#[tokio::test]
async fn check_views_returns_every_finding() {
    let database = TestDatabase::new(&BAD).await;
    compare(
        &check_views(&options().auto_camel_case(true), &database.url())
            .await
            .unwrap(),
    );
    let well = TestDatabase::new(GOOD).await;
    assert_eq!(check_views(&options(), &well.url()).await.unwrap(), []);
}

#[tokio::test]
async fn check_views_reports_missing_views_and_databases() {
    let database = TestDatabase::new("").await;
    let found = check_views(&options(), &database.url()).await.unwrap();
    let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
    let missing = "fault: tb_owner: the database has no view or table `tb_owner`, or the service may not see it; make it";
    assert!(
        shown.iter().any(|finding| finding.starts_with(missing)),
        "{shown:#?}"
    );
    assert_eq!(found.len(), 4, "{shown:#?}");
    let error = check_views(
        &options(),
        &database.url().replace(database.name(), "no_such_database"),
    )
    .await;
    assert!(error.unwrap_err().to_string().contains("no_such_database"));
}

#[tokio::test]
async fn the_log_has_a_line_for_each_finding() {
    let log = Log::start();
    let database = TestDatabase::new(&BAD).await;
    let app = App::serve(options().auto_camel_case(true).database_url(database.url())).await;
    log.has("the database may not fit the schema source=\"v_ticket\" field=\"Ticket.title\"")
        .await;
    let text = log.text();
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("fit the schema"))
        .collect();
    assert_eq!(lines.len(), 8, "{lines:#?}");
    let faults = lines
        .iter()
        .filter(|line| line.contains("WARN") && line.contains("does not fit"))
        .count();
    assert_eq!(faults, 4, "{lines:#?}");
    assert!(
        lines
            .iter()
            .all(|line| line.contains("cause=") && line.contains("remedy=")),
        "{lines:#?}"
    );
    // Nothing more for requests.
    app.query("{ owners { id } }").await.data();
    assert_eq!(
        log.text()
            .lines()
            .filter(|line| line.contains("fit the schema"))
            .count(),
        8
    );
}

#[tokio::test]
async fn readiness_has_the_details_in_development() {
    let database = TestDatabase::new(&BAD).await;
    let app = App::serve(options().auto_camel_case(true).database_url(database.url())).await;
    let ready = svc_tests::eventually(async || {
        let reply = app.get("/ready").await;
        let ready = reply.json();
        let has_all = ready["details"]["schema"]
            .as_array()
            .is_some_and(|list| list.len() == 8);
        // A probe that has no answer of the database in time says that of the schema.
        if has_all && ready["checks"]["database"] == "ok" {
            Ok(ready)
        } else {
            Err(reply.text)
        }
    })
    .await;
    let first = &ready["details"]["schema"][0];
    assert_eq!(first["severity"], "fault");
    assert_eq!(first["field"], "Mutation.closeTicket");
    let schema = ready["checks"]["schema"].as_str().unwrap();
    assert!(
        schema.contains("the default order names `titel`") && !schema.contains("may be null"),
        "{schema}"
    );
}

#[tokio::test]
async fn hints_keep_readiness_and_are_omitted_in_production() {
    let sql = GOOD.replace("title text NOT NULL", "title text");
    for environment in [svc::Environment::Development, svc::Environment::Production] {
        let log = Log::start();
        let database = TestDatabase::new(&sql).await;
        let config = SvcConfig {
            environment,
            ..SvcConfig::default()
        };
        let app = App::serve(options().config(config).database_url(database.url())).await;
        app.until_ready().await;
        let is_development = environment == svc::Environment::Development;
        if is_development {
            log.has("fit the schema").await;
        }
        assert_eq!(
            !app.get("/ready").await.json()["details"].is_null(),
            is_development
        );
        assert_eq!(
            log.text().contains("fit the schema"),
            is_development,
            "{}",
            log.text()
        );
    }
}

/// Where a view joins, filters or computes, its columns can be without nulls.
#[tokio::test]
async fn uncertain_nullability_gives_no_hint() {
    let table = GOOD.replace("title text NOT NULL", "title text");
    for view in [
        "SELECT id, title, titel, note, vouched, state, owner_id FROM tb_ticket WHERE title IS NOT NULL",
        "SELECT id, coalesce(title, '') AS title, titel, note, vouched, state, owner_id FROM tb_ticket",
        "SELECT t.id, t.title, titel, note, vouched, state, owner_id FROM tb_ticket t JOIN tb_owner o ON o.name = title",
        "SELECT id, title, titel, note, vouched, state, owner_id FROM (SELECT * FROM tb_ticket WHERE title > '') t",
    ] {
        let sql = table.replace(
            "SELECT id, title, titel, note, vouched, state, owner_id FROM tb_ticket;",
            &format!("{view};"),
        );
        assert!(sql.contains(view));
        let database = TestDatabase::new(&sql).await;
        assert_eq!(
            check_views(&options(), &database.url()).await.unwrap(),
            [],
            "{view}"
        );
    }
}
