//! Traces in comments: what PostgreSQL sees of the statements of a request.

use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::{Value, json};
use svc::prelude::*;
use svc::{DatabaseConfig, SvcConfig, TracingConfig};
use svc_tests::{TestDatabase, is_alone_with};

use super::receiver::{Receiver, attributes};
use super::shop::{SOON, TRACE, ask, serve, to};

const SQL: &str = "
    CREATE VIEW v_said AS SELECT current_query() AS text, '{}'::jsonb AS data;
    CREATE VIEW v_prepared AS
        SELECT count(*)::integer AS kept, count(*) FILTER (WHERE statement LIKE '%traceparent%')::integer AS told,
               '{}'::jsonb AS data
        FROM pg_prepared_statements;
    CREATE FUNCTION fn_say(word text) RETURNS text LANGUAGE sql AS 'SELECT current_query()';";

/// The statement that reads it.
#[svc_type(sql_source = "v_said")]
struct Said {
    text: String,
}

#[svc::query]
async fn said() -> Option<Said>;

/// The number of statements that the connection has prepared.
#[svc_type(sql_source = "v_prepared")]
struct Prepared {
    kept: i32,
    told: i32,
}

#[svc::query]
async fn prepared() -> Option<Prepared>;

#[svc::mutation(function = "fn_say")]
async fn say(word: String) -> String;

fn options(database: &TestDatabase) -> AppOptions {
    // One connection, so that all of them are prepared there.
    let database = DatabaseConfig {
        url: Some(database.url()),
        pool_size: 1,
        ..DatabaseConfig::default()
    };
    AppOptions::new()
        .config(SvcConfig {
            database,
            ..SvcConfig::default()
        })
        .queries(queries![said, prepared])
        .mutations(mutations![say])
}

async fn data(app: &svc_tests::App, document: &str, is_sampled: bool) -> Value {
    let parent = format!(
        "00-{TRACE}-b7ad6b7169203331-{}",
        if is_sampled { "01" } else { "00" }
    );
    let answer = ask(
        app,
        document,
        json!({ "word": "hush" }),
        &[("traceparent", &parent)],
    )
    .await;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer.get("errors"), None, "{answer}");
    answer["data"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn only_sampled_requests_send_trace_comments() {
    if !is_alone_with(
        module_path!(),
        "only_sampled_requests_send_trace_comments",
        &[SOON],
    ) {
        return;
    }
    let receiver = Receiver::start().await;
    let database = TestDatabase::new(SQL).await;
    let config = TracingConfig {
        sql_comments: true,
        ..to(&receiver)
    };
    let app = serve(options(&database), config).await;
    let comment = |span: &Span| {
        format!(
            " /*traceparent='00-{TRACE}-{}-01'*/",
            hex::encode(&span.span_id)
        )
    };

    let read = data(&app, "{ said { text } }", true).await;
    let span = receiver.span("SELECT v_said").await;
    let text = read["said"]["text"].as_str().unwrap();
    assert!(text.ends_with(&comment(&span)), "{text}");
    let told = &attributes(&span.attributes)["db.query.text"];
    assert_eq!(
        text.strip_suffix(&comment(&span)),
        Some(&**told),
        "the span's text is that of all its like"
    );

    let written = data(&app, "mutation($word: String!) { say(word: $word) }", true).await;
    let span = receiver.span("CALL public.fn_say").await;
    let text = written["say"].as_str().unwrap();
    assert!(
        text.ends_with(&comment(&span)) && !text.contains("hush"),
        "{text}"
    );

    let silent = data(&app, "{ said { text } }", false).await;
    assert!(
        !silent["said"]["text"].as_str().unwrap().contains("/*"),
        "{silent}"
    );

    let kept = async |is_sampled| {
        for _ in 0..40 {
            data(&app, "{ said { text } }", true).await;
            data(&app, "mutation($word: String!) { say(word: $word) }", true).await;
        }
        data(&app, "{ prepared { kept told } }", is_sampled).await["prepared"].clone()
    };
    let prepared = kept(false).await;
    assert!(
        prepared["kept"].as_i64().unwrap() < 10 && prepared["told"] == 0,
        "{prepared}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn comments_and_old_attribute_names_are_off_by_default() {
    const NAME: &str = "comments_and_old_attribute_names_are_off_by_default";
    if !is_alone_with(
        module_path!(),
        NAME,
        &[SOON, ("OTEL_SEMCONV_STABILITY_OPT_IN", "http,database")],
    ) {
        return;
    }
    let receiver = Receiver::start().await;
    let database = TestDatabase::new(SQL).await;
    let config = TracingConfig {
        export_endpoint: Some(receiver.url.clone()),
        ..TracingConfig::from_env().unwrap()
    };
    let app = serve(options(&database), config).await;
    let read = data(&app, "{ said { text } }", true).await;
    assert!(
        !read["said"]["text"].as_str().unwrap().contains("/*"),
        "{read}"
    );
    let told = attributes(&receiver.span("SELECT v_said").await.attributes);
    assert_eq!(told["db.system.name"], "postgresql");
    assert!(told.contains_key("db.query.text"), "{told:?}");
    assert!(
        !told.contains_key("db.system") && !told.contains_key("db.statement"),
        "{told:?}"
    );
}
