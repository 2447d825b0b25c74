//! Functions that take any number of values, in reads: they get a list.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_mark")]
struct Mark {
    id: i32,
}

#[svc_type]
impl Mark {
    #[svc(function = "added")]
    fn added(&self, numbers: Vec<i32>) -> i32;
}

#[svc::query]
async fn marks() -> Vec<Mark>;
#[svc::query(function = "marks_of")]
async fn marks_of(numbers: Vec<i32>) -> Vec<Mark>;
#[svc::query(function = "marks_without_names")]
async fn marks_without_names(least: i32, numbers: Vec<i32>) -> Vec<Mark>;

const SQL: &str = "
    CREATE VIEW v_mark AS SELECT id FROM generate_series(1, 3) AS id;
    CREATE FUNCTION added(m v_mark, VARIADIC numbers int[]) RETURNS int LANGUAGE sql STABLE AS
        $$ SELECT m.id + sum(n)::int FROM unnest(numbers) AS n $$;
    CREATE FUNCTION marks_of(VARIADIC numbers int[]) RETURNS SETOF v_mark LANGUAGE sql STABLE AS
        $$ SELECT id FROM v_mark WHERE id = ANY (numbers) $$;
    CREATE FUNCTION marks_without_names(int, VARIADIC int[]) RETURNS SETOF v_mark LANGUAGE sql STABLE AS
        $$ SELECT id FROM v_mark WHERE id >= $1 AND id = ANY ($2) $$;";

#[tokio::test]
async fn variadic_functions_get_a_list_of_values() {
    let database = TestDatabase::new(SQL).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    let app = App::serve(options.queries(queries![marks, marks_of, marks_without_names])).await;
    let ids = |ids: &[i32]| -> Value { ids.iter().map(|id| json!({ "id": id })).collect() };
    for (field, expected) in [
        ("marksOf(numbers: [1, 3])", ids(&[1, 3])),
        ("marksOf(numbers: [2])", ids(&[2])),
        ("marksWithoutNames(least: 2, numbers: [1, 3])", ids(&[3])),
        (
            "marks(where: {added: {args: {numbers: [10, 20]}, gt: 31}})",
            ids(&[2, 3]),
        ),
    ] {
        let reply = app.query(&format!("{{ rows: {field} {{ id }} }}")).await;
        assert_eq!(reply.data()["rows"], expected, "{field}: {}", reply.text);
    }
    let reply = app
        .query("{ marks { added(numbers: [10, 20]) one: added(numbers: [1]) } }")
        .await;
    let expected = json!([
        { "added": 31, "one": 2 },
        { "added": 32, "one": 3 },
        { "added": 33, "one": 4 },
    ]);
    assert_eq!(reply.data()["marks"], expected, "{}", reply.text);
}
