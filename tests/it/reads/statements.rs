//! One SQL statement for each planned root field.

use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type]
struct Maker {
    name: String,
}

#[svc_type(sql_source = "v_counted_part")]
struct Part {
    id: i32,
    name: String,
    maker: Maker,
}

#[svc_type]
impl Part {
    fn label(&self) -> String {
        format!("{} by {}", self.name, self.maker.name)
    }

    async fn slow_label(&self) -> String {
        tokio::task::yield_now().await;
        self.label()
    }
}

#[svc::query]
async fn parts() -> Vec<Part>;
#[svc::query]
async fn part(id: i32) -> Option<Part>;
#[svc::query]
async fn cheap(ctx: &Context<'_>, below: i32) -> Result<Find<Part>> {
    Ok(ctx
        .db()
        .find::<Part>()
        .filter(col("id").lt(below))
        .order_by(desc("id")))
}

const SQL: &str = "
CREATE VIEW v_counted_part AS
SELECT i AS id, 'part ' || i AS name, jsonb_build_object('maker', jsonb_build_object('name', 'maker ' || i % 3)) AS data
FROM generate_series(1, 15) AS i;";

#[tokio::test]
async fn a_planned_root_field_runs_one_statement() {
    let database = TestDatabase::new(SQL).await;
    let app = App::serve(
        AppOptions::new()
            .database_url(database.url())
            .queries(queries![parts, part, cheap]),
    )
    .await;
    let mut before = 0;
    for (query, fields) in [
        ("{ parts { id } }", 1),
        ("{ parts { id name maker { name } } }", 1),
        ("{ parts { label slow_label maker { name } } }", 1),
        ("{ part(id: 3) { name maker { name } } }", 1),
        ("{ cheap(below: 9) { name } }", 1),
        ("{ cheap(below: 9) { label } }", 1),
        (
            "{ a: parts { id } b: parts(limit: 2) { id } c: part(id: 1) { label } d: cheap(below: 2) { id } }",
            4,
        ),
        ("{ __typename }", 0),
    ] {
        app.query(query).await.data();
        let after = database.statements("FROM \"v_counted_part\"").await;
        assert_eq!(after - before, fields, "{query}");
        before = after;
    }
}

#[tokio::test]
async fn only_selected_columns_are_read() {
    let database = TestDatabase::new(SQL).await;
    let app = App::serve(
        AppOptions::new()
            .database_url(database.url())
            .queries(queries![parts]),
    )
    .await;
    app.query("{ parts { name } }").await.data();
    assert_eq!(
        database
            .statements("SELECT * FROM (SELECT t.\"name\" FROM \"v_counted_part\" AS t ORDER BY")
            .await,
        1
    );
    app.query("{ parts { name maker { name } } }").await.data();
    assert_eq!(
        database
            .statements(
                "SELECT t.\"name\", t.\"data\"->$2 FROM (SELECT t.* FROM \"v_counted_part\""
            )
            .await,
        1
    );
}
