//! The bytes that one request can write to the log are bounded.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, Log, Reply, TestDatabase};

#[svc_type(sql_source = "v_writer")]
struct Writer {
    id: Uuid,
}

#[svc_type(sql_source = "v_note")]
struct Note {
    id: i32,
    #[relation]
    writer: Option<One<Writer>>,
}

#[svc_type]
impl Note {
    async fn alike(&self) -> Result<Option<i32>> {
        Err(Error::internal("always the same"))
    }

    async fn unlike(&self) -> Result<Option<i32>> {
        Err(Error::internal(format!(
            "number {} {}",
            self.id,
            "x".repeat(100_000)
        )))
    }

    async fn visible(&self) -> Result<Option<i32>> {
        Err(Error::new(ErrorCode::BadUserInput, "shown").with_source("not shown"))
    }

    async fn fine(&self) -> i32 {
        self.id
    }
}

#[svc::query]
async fn notes() -> Vec<Note>;

#[svc::query]
fn broken() -> Result<i32> {
    Err(Error::internal("at the root"))
}

const SQL: &str = "CREATE VIEW v_writer AS SELECT gen_random_uuid() AS id;
    CREATE VIEW v_note AS SELECT jsonb_build_object(
        'id', n, 'writer_id', CASE n WHEN 500 THEN 'junk' ELSE gen_random_uuid()::text END) AS data
    FROM generate_series(1, 1000) AS n";

async fn app() -> (App, Log) {
    let url = TestDatabase::shared("log_lines", SQL).await;
    let log = Log::start();
    let options = AppOptions::new()
        .database_url(url)
        .queries(queries![notes, broken]);
    let limits = svc::Limits {
        complexity: 1_000_000,
        ..svc::Limits::default()
    };
    let app = App::serve(options.limits(limits)).await;
    app.query("{ notes(limit: 1) { id } }").await.data();
    (app, log)
}

fn errors(log: &Log) -> Vec<String> {
    log.text()
        .lines()
        .filter(|line| line.contains("ERROR"))
        .map(str::to_owned)
        .collect()
}

fn ids(reply: &Reply) -> Vec<String> {
    let errors = reply.json()["errors"].clone();
    let id = |error: &Value| error["extensions"]["errorId"].as_str().unwrap().to_owned();
    errors.as_array().unwrap().iter().map(id).collect()
}

#[tokio::test]
async fn equal_errors_are_logged_as_one_line_with_a_count() {
    let (app, log) = app().await;
    let reply = app.query("{ notes(limit: 1000) { alike } }").await;
    let (lines, ids) = (errors(&log), ids(&reply));
    assert_eq!((lines.len(), ids.len()), (1, 50), "{lines:?}");
    assert!(
        lines[0].contains("times=1000") && lines[0].contains("always the same"),
        "{lines:?}"
    );
    assert!(ids.iter().all(|id| lines[0].contains(id)));
}

#[tokio::test]
async fn an_invalid_stored_key_is_at_most_one_log_line() {
    let (app, log) = app().await;
    app.query("{ notes(limit: 1000) { fine writer { id } } }")
        .await;
    let lines = errors(&log);
    assert!(lines.len() <= 1, "{} lines: {:?}", lines.len(), &lines[..2]);
}

#[tokio::test]
async fn different_errors_are_bounded_and_each_id_is_logged() {
    let (app, log) = app().await;
    let reply = app.query("{ notes(limit: 1000) { unlike } }").await;
    let lines = errors(&log);
    assert_eq!(lines.len(), 11, "{lines:?}");
    assert!(
        lines[10].contains("times=990") && lines[10].contains("more fields failed"),
        "{}",
        lines[10]
    );
    assert!(log.text().len() < 40_000, "{} bytes", log.text().len());
    for id in ids(&reply) {
        assert_eq!(
            lines.iter().filter(|line| line.contains(&id)).count(),
            1,
            "{id}"
        );
    }
}

#[tokio::test]
async fn long_names_sent_by_clients_are_truncated_in_the_log() {
    let (app, log) = app().await;
    let name = "a".repeat(500_000);
    app.query(&format!("{{ {name}: broken }}")).await;
    assert_eq!(errors(&log).len(), 1);
    assert!(log.text().len() < 10_000, "{} bytes", log.text().len());
}

#[tokio::test]
async fn all_root_fields_share_one_bound_of_log_lines() {
    let (app, log) = app().await;
    let fields: String = (0..50).map(|n| format!("f{n}: broken ")).collect();
    app.query(&format!("{{ {fields} }}")).await;
    let lines = errors(&log);
    assert!(
        lines.len() == 1 && lines[0].contains("at the root"),
        "{lines:?}"
    );
}

#[tokio::test]
async fn the_hidden_cause_of_a_shown_error_is_logged() {
    let (app, log) = app().await;
    let reply = app.query("{ notes(limit: 3) { visible } }").await;
    assert_eq!(reply.json()["errors"][2]["message"], json!("shown"));
    assert!(
        !reply.text.contains("errorId") && !reply.text.contains("not shown"),
        "{}",
        reply.text
    );
    let lines = errors(&log);
    assert!(
        lines.len() == 1 && lines[0].contains("shown: not shown"),
        "{lines:?}"
    );
}

#[tokio::test]
async fn client_errors_are_not_logged() {
    let (app, log) = app().await;
    for query in [
        "{",
        "{ nope }",
        "{ notes(limit: -1) { id } }",
        "{ notes(limit: 9999) { id } }",
    ] {
        app.query(query).await;
    }
    app.send(app.request("PUT", "/graphql")).await;
    app.send(app.request("POST", "/graphql").body("x")).await;
    assert_eq!(errors(&log), Vec::<String>::new());
    assert!(!log.text().contains("WARN"), "{}", log.text());
}
