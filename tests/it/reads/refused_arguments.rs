//! Arguments of functions and SQL that the type or the domain of a parameter does not accept, in
//! reads.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_step")]
struct Step {
    id: i32,
}

#[svc_type]
impl Step {
    #[svc(function = "times")]
    fn times(&self, factor: i32) -> i32;
    #[svc(function = "broken_times")]
    fn broken_times(&self, factor: i32) -> i32;
}

#[svc::query]
async fn steps() -> Vec<Step>;
#[svc::query(function = "steps_above")]
async fn steps_above(low: i32, mark: Option<String>, days: Option<Vec<String>>) -> Vec<Step>;
#[svc::query(function = "broken_steps")]
async fn broken_steps(low: i32) -> Vec<Step>;
#[svc::query(
    sql = "SELECT id FROM v_step WHERE id > $1::positive AND id < coalesce($2::text::int, 10)"
)]
async fn chosen(low: i32, high: Option<String>) -> Vec<Step>;

const SQL: &str = "
    CREATE DOMAIN positive AS int CHECK (VALUE > 0);
    CREATE DOMAIN given AS text NOT NULL;
    CREATE VIEW v_step AS SELECT id FROM generate_series(1, 3) AS id;
    CREATE FUNCTION times(s v_step, factor positive) RETURNS int LANGUAGE sql STABLE AS 'SELECT s.id * factor';
    CREATE FUNCTION broken_times(s v_step, factor positive) RETURNS int LANGUAGE sql STABLE AS
        $$ SELECT factor + ('x' || s.id)::int $$;
    CREATE FUNCTION steps_above(low positive, mark given, days date[] DEFAULT '{}') RETURNS SETOF v_step
        LANGUAGE sql STABLE AS
        $$ SELECT id FROM v_step WHERE id > low AND mark <> 'none' AND (days = '{}' OR current_date > ALL (days)) $$;
    CREATE FUNCTION broken_steps(low positive) RETURNS SETOF v_step LANGUAGE sql STABLE AS
        $$ SELECT ('x' || id)::int FROM v_step WHERE id > low $$;";

async fn app() -> App {
    let url = TestDatabase::shared("refused_arguments", SQL).await;
    let options = AppOptions::new().database_url(url).auto_camel_case(true);
    App::serve(options.queries(queries![steps, steps_above, broken_steps, chosen])).await
}

#[tokio::test]
async fn an_argument_refused_by_its_parameter_is_a_client_error() {
    let app = app().await;
    let fit = "{ stepsAbove(low: 1, mark: \"x\", days: [\"1999-01-02\"]) { id } chosen(low: 2, high: \"9\") { id } \
               steps(limit: 2) { times(factor: 2) } }";
    let expected = json!({
        "stepsAbove": [{ "id": 2 }, { "id": 3 }],
        "chosen": [{ "id": 3 }],
        "steps": [{ "times": 2 }, { "times": 4 }],
    });
    assert_eq!(app.query(fit).await.data(), expected);
    for document in [
        "{ stepsAbove(low: 0, mark: \"x\") { id } }",
        "{ stepsAbove(low: 1, mark: null) { id } }",
        "{ stepsAbove(low: 1, mark: \"x\", days: [\"1999-01-02\", \"soon\"]) { id } }",
        "{ chosen(low: -1) { id } }",
        "{ chosen(low: 1, high: \"x\") { id } }",
        "{ steps { id times(factor: 0) } }",
        "{ steps(where: {times: {args: {factor: -1}, gt: 1}}) { id } }",
        "{ stepsAbove(low: 1, mark: \"x\") { fit: times(factor: 1) unfit: times(factor: 0) } }",
    ] {
        // A kept statement answers as a new one.
        for _ in 0..2 {
            let reply = app.query(document).await;
            assert_eq!(
                (reply.code().as_str(), reply.message().as_str()),
                (
                    "BAD_USER_INPUT",
                    "an argument is not a value that the field accepts"
                ),
                "{document}: {}",
                reply.text
            );
        }
    }
}

#[tokio::test]
async fn an_error_of_a_function_with_fit_arguments_is_masked() {
    let app = app().await;
    for document in [
        "{ brokenSteps(low: 1) { id } }",
        "{ steps { brokenTimes(factor: 1) } }",
    ] {
        let reply = app.query(document).await;
        assert_eq!(
            reply.code(),
            "INTERNAL_SERVER_ERROR",
            "{document}: {}",
            reply.text
        );
    }
}
