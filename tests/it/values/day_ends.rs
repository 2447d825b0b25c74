//! The end of the day and leap seconds, in columns and in `data`, both ways.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_column")]
struct InColumn {
    id: i32,
    at: NaiveTime,
    on: DateTime<Utc>,
}

#[svc_type(sql_source = "v_data")]
struct InData {
    id: i32,
    at: NaiveTime,
    on: DateTime<Utc>,
}

#[svc::query]
async fn columns() -> Vec<InColumn>;
#[svc::query]
async fn data() -> Vec<InData>;
#[svc::query]
async fn found(ctx: &Context<'_>) -> Result<Vec<InColumn>> {
    ctx.db().find::<InColumn>().await
}
#[svc::query]
fn given(at: NaiveTime) -> NaiveTime {
    at
}
#[svc::mutation(function = "take_time")]
async fn take_time(t: NaiveTime) -> NaiveTime;

const SQL: &str = r#"
    CREATE TABLE tb_time (id int, at time, "on" timestamptz);
    INSERT INTO tb_time VALUES (1, '12:00', '2016-12-31 23:59:59+00'), (2, '24:00', '2017-01-01 00:00:00+00');
    CREATE VIEW v_column AS SELECT * FROM tb_time;
    CREATE VIEW v_data AS SELECT id, jsonb_build_object('at', CASE id WHEN 1 THEN '12:00:00' ELSE '23:59:60' END,
        'on', CASE id WHEN 1 THEN '2016-12-31T23:59:59Z' ELSE '2016-12-31T23:59:60Z' END) AS data FROM tb_time;
    CREATE FUNCTION take_time(t time) RETURNS time LANGUAGE sql AS 'SELECT t';"#;

async fn app() -> App {
    let url = TestDatabase::shared("day_ends", SQL).await;
    let options = AppOptions::new()
        .database_url(url)
        .queries(queries![columns, data, found, given]);
    App::serve(options.mutations(mutations![take_time])).await
}

#[tokio::test]
async fn the_end_of_the_day_is_written_and_read() {
    let app = app().await;
    let end = json!([{"id": 2, "at": "24:00:00", "on": "2017-01-01T00:00:00Z"}]);
    for field in ["columns", "data"] {
        for filter in [
            r#"at: {eq: "24:00:00"}"#,
            r#"at: {eq: "23:59:60"}"#,
            r#"at: {eq: "24:00"}"#,
            r#"at: {gt: "23:59:59.999999"}"#,
            r#"on: {eq: "2016-12-31T23:59:60Z"}"#,
            r#"on: {gte: "2017-01-01T00:00:00Z"}"#,
        ] {
            let reply = app
                .query(&format!(
                    "{{ {field}(where: {{{filter}}}) {{ id at on }} }}"
                ))
                .await;
            assert_eq!(
                reply.data()[field],
                end,
                "{field}, {filter}: {}",
                reply.text
            );
        }
    }
    assert_eq!(
        app.query("{ found { at } }").await.data()["found"],
        json!([{"at": "12:00:00"}, {"at": "24:00:00"}])
    );
}

#[tokio::test]
async fn leap_seconds_are_read_as_postgresql_reads_them() {
    let app = app().await;
    for (given, read) in [
        ("23:59:60", "24:00:00"),
        ("24:00", "24:00:00"),
        ("24:00:00", "24:00:00"),
        ("12:30:60", "12:31:00"),
        ("12:30", "12:30:00"),
    ] {
        let document = format!("mutation {{ take_time(t: \"{given}\") }}");
        assert_eq!(
            app.query(&document).await.data()["take_time"],
            read,
            "{given}"
        );
        assert_eq!(
            app.query(&format!("{{ given(at: \"{given}\") }}"))
                .await
                .data()["given"],
            read,
            "{given}"
        );
    }
    for given in ["24:00:01", "24:01", "25:00", "23:59:60.5", "23:59:61"] {
        let reply = app
            .query(&format!("mutation {{ take_time(t: \"{given}\") }}"))
            .await;
        assert!(
            reply.message().contains("expected a time as HH:MM:SS"),
            "{given}: {}",
            reply.text
        );
    }
}
