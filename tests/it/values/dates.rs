//! Years beyond 9999 and before Christ, `infinity`, and instants finer than a microsecond.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

macro_rules! reign {
    ($name:ident, $source:literal) => {
        #[svc_type(sql_source = $source)]
        struct $name {
            id: i32,
            at: Option<DateTime<Utc>>,
            day: Option<NaiveDate>,
            clock: Option<NaiveTime>,
        }

        #[svc_type]
        impl $name {
            /// Selecting it reads whole rows.
            fn at_again(&self) -> Option<DateTime<Utc>> {
                self.at
            }
            fn day_again(&self) -> Option<NaiveDate> {
                self.day
            }
        }
    };
}

reign!(ColumnReign, "v_reign_columns");
reign!(DataReign, "v_reign_data");
reign!(TableReign, "tv_reign");

#[svc::query]
async fn columns() -> Vec<ColumnReign>;
#[svc::query]
async fn data() -> Vec<DataReign>;
#[svc::query]
async fn table() -> Vec<TableReign>;
#[svc::query]
async fn by_day(day: Option<NaiveDate>, at: Option<DateTime<Utc>>) -> Vec<ColumnReign>;
#[svc::query]
async fn found(ctx: &Context<'_>, at: DateTime<Utc>, day: NaiveDate) -> Result<Find<DataReign>> {
    Ok(ctx
        .db()
        .find::<DataReign>()
        .filter(col("at").eq(at).and(col("day").eq(day))))
}
#[svc::query]
async fn pages() -> Connection<ColumnReign>;
#[svc::query]
fn echo(at: DateTime<Utc>, day: NaiveDate) -> Vec<String> {
    vec![at.to_rfc3339(), day.to_string()]
}
/// Gives back what it is given, as PostgreSQL understands it.
#[svc::mutation(function = "app.keep")]
async fn keep(at: DateTime<Utc>, day: NaiveDate, input: ReignInput) -> String;

#[svc_input]
struct ReignInput {
    at: DateTime<Utc>,
}

const SQL: &str = "
CREATE SCHEMA app;
CREATE TABLE tb_reign (id int, at timestamptz, day date, clock time(6));
INSERT INTO tb_reign VALUES
  (1, '20000-01-02 03:04:05.5+00', '20000-01-02', '12:00:00.000001'),
  (2, '0044-03-15 12:00:00+00 BC', '0044-03-15 BC', '12:00:00.123457'),
  (3, '0001-12-31 23:59:59+00 BC', '0001-12-31 BC', '12:00:00'),
  (4, '2024-01-01 00:00:00.123457+00', '2024-01-01', null);
CREATE VIEW v_reign_columns AS SELECT * FROM tb_reign;
CREATE VIEW v_reign_data AS SELECT to_jsonb(t) AS data FROM tb_reign t;
CREATE TABLE tv_reign AS SELECT id, to_json(t) AS data FROM tb_reign t;
CREATE FUNCTION app.keep(at timestamptz, day date, input jsonb) RETURNS text LANGUAGE sql AS
  $$ SELECT concat_ws('|', at, day, (input->>'at')::timestamptz) $$;
";

const FAR: [(i32, &str, &str); 3] = [
    (1, "+020000-01-02T03:04:05.500Z", "+020000-01-02"),
    (2, "-000043-03-15T12:00:00Z", "-000043-03-15"),
    (3, "0000-12-31T23:59:59Z", "0000-12-31"),
];
const ROOTS: [(&str, &str); 3] = [
    ("columns", "ColumnReign"),
    ("data", "DataReign"),
    ("table", "TableReign"),
];

async fn app_over(sql: &str) -> App {
    let database = TestDatabase::new(sql).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    let queries = queries![columns, data, table, by_day, found, pages, echo];
    App::serve(options.queries(queries).mutations(mutations![keep])).await
}

async fn ids(app: &App, root: &str, ty: &str, condition: &Value) -> Value {
    let query = format!(
        "query ($where: {ty}Where) {{ {root}(where: $where, orderBy: [{{id: ASC}}]) {{ id }} }}"
    );
    let reply = app.query_with(&query, json!({ "where": condition })).await;
    reply.data()[root]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].clone())
        .collect()
}

#[tokio::test]
async fn far_years_have_one_form_and_find_their_rows() {
    let app = app_over(SQL).await;
    for (root, ty) in ROOTS {
        for (id, at, day) in FAR {
            let query =
                format!("{{ {root}(where: {{id: {{eq: {id}}}}}) {{ at day atAgain dayAgain }} }}");
            let row = json!([{ "at": at, "day": day, "atAgain": at, "dayAgain": day }]);
            assert_eq!(app.query(&query).await.data()[root], row, "{root}");
            for condition in [
                json!({ "at": { "eq": at } }),
                json!({ "day": { "eq": day } }),
                json!({ "at": { "in": [at] }, "day": { "lte": day, "gte": day } }),
            ] {
                assert_eq!(
                    ids(&app, root, ty, &condition).await,
                    json!([id]),
                    "{root} {condition}"
                );
            }
        }
        let early = json!({ "day": { "lt": "0001-01-01" } });
        assert_eq!(ids(&app, root, ty, &early).await, json!([2, 3]), "{root}");
        let ordered = app
            .query(&format!("{{ {root}(orderBy: [{{at: DESC}}]) {{ id }} }}"))
            .await;
        assert_eq!(
            ordered.data()[root],
            json!([{ "id": 1 }, { "id": 4 }, { "id": 3 }, { "id": 2 }]),
            "{root}"
        );
    }
}

#[tokio::test]
async fn far_years_are_accepted_by_arguments_resolvers_functions_and_cursors() {
    let app = app_over(SQL).await;
    for (id, at, day) in FAR {
        let variables = json!({ "at": at, "day": day });
        let ask = |fields: &str| format!("query ($at: DateTime!, $day: Date!) {{ {fields} }}");
        let both = ask("byDay(at: $at, day: $day) { id } found(at: $at, day: $day) { id }");
        assert_eq!(
            app.query_with(&both, variables.clone()).await.data(),
            json!({ "byDay": [{ "id": id }], "found": [{ "id": id }] }),
            "{at}"
        );
        let echoed = app
            .query_with(&ask("echo(at: $at, day: $day)"), variables.clone())
            .await;
        assert!(
            echoed.data()["echo"][1]
                .as_str()
                .unwrap()
                .ends_with(&day[5..]),
            "{}",
            echoed.text
        );
        let keep =
            "mutation ($at: DateTime!, $day: Date!) { keep(at: $at, day: $day, input: {at: $at}) }";
        let kept = app.query_with(keep, variables).await.data()["keep"]
            .as_str()
            .unwrap()
            .to_owned();
        let parts: Vec<_> = kept.split('|').collect();
        assert_eq!(
            (parts[0], parts[0].ends_with("BC")),
            (parts[2], id != 1),
            "{kept}"
        );
    }
    let page = |after: &str| {
        format!(
            "{{ pages(first: 1, orderBy: [{{at: ASC}}]{after}) {{ nodes {{ id }} pageInfo {{ endCursor }} }} }}"
        )
    };
    let mut after = String::new();
    for id in [2, 3, 4, 1] {
        let data = app.query(&page(&after)).await.data()["pages"].clone();
        assert_eq!(data["nodes"], json!([{ "id": id }]));
        after = format!(", after: {}", data["pageInfo"]["endCursor"]);
    }
}

#[tokio::test]
async fn infinity_is_an_invalid_instant_everywhere() {
    let app = app_over(&format!(
        "{SQL} UPDATE tb_reign SET at = 'infinity', day = '-infinity' WHERE id = 4; DROP TABLE tv_reign;
        CREATE TABLE tv_reign AS SELECT id, to_json(t) AS data FROM tb_reign t;"
    ))
    .await;
    for (root, _) in ROOTS {
        let reply = app
            .query(&format!(
                "{{ {root}(where: {{id: {{gte: 3}}}}, orderBy: [{{id: ASC}}]) {{ id at day }} }}"
            ))
            .await;
        let rows = json!([
            { "id": 3, "at": "0000-12-31T23:59:59Z", "day": "0000-12-31" }, { "id": 4, "at": null, "day": null }
        ]);
        assert_eq!(reply.json()["data"][root], rows, "{}", reply.text);
        let errors = reply.json()["errors"].clone();
        assert_eq!(errors[0]["path"], json!([root, 1, "at"]));
        assert_eq!(
            errors[0]["message"], "the value is not a valid DateTime",
            "{root}"
        );
        assert_eq!(
            errors[1]["message"], "the value is not a valid Date",
            "{root}"
        );
    }
    for value in [
        "infinity",
        "-infinity",
        "+20000-01-01T00:00:00Z",
        "-000000-01-01T00:00:00Z",
        "4714-11-23T00:00:00Z BC",
    ] {
        let reply = app
            .query(&format!("{{ byDay(at: \"{value}\") {{ id }} }}"))
            .await;
        assert_eq!(
            reply.code(),
            "GRAPHQL_VALIDATION_FAILED",
            "{value}: {}",
            reply.text
        );
    }
}

/// PostgreSQL rounds what it is given to microseconds; what is finer equals no instant that it
/// keeps.
#[tokio::test]
async fn fractions_of_a_microsecond_are_compared_exactly() {
    let app = app_over(SQL).await;
    let at = |digits: &str| format!("2024-01-01T00:00:00.{digits}Z");
    // The last one comes from a statement that was kept for the ones before.
    for (operator, digits, expected) in [
        ("eq", "123457", vec![4]),
        ("eq", "123456789", vec![]),
        ("neq", "123456789", vec![1, 2, 3, 4]),
        ("gt", "123456789", vec![1, 4]),
        ("gte", "123456789", vec![1, 4]),
        ("lt", "123457001", vec![2, 3, 4]),
        ("lte", "123457001", vec![2, 3, 4]),
        ("lt", "123456789", vec![2, 3]),
        ("gt", "123457001", vec![1]),
        ("eq", "123457000", vec![4]),
    ] {
        for (root, ty) in ROOTS {
            let condition = json!({ "at": { operator: at(digits) } });
            assert_eq!(
                ids(&app, root, ty, &condition).await,
                json!(expected),
                "{root} {condition}"
            );
        }
    }
    for (root, ty) in ROOTS {
        let lists = [("in", vec![4]), ("nin", vec![1, 2, 3])];
        for (operator, expected) in lists {
            let condition = json!({ "at": { operator: [at("123456789"), at("123457")] } });
            assert_eq!(
                ids(&app, root, ty, &condition).await,
                json!(expected),
                "{root} {condition}"
            );
        }
        let condition = json!({ "clock": { "eq": "12:00:00.1234567" } });
        assert_eq!(ids(&app, root, ty, &condition).await, json!([]), "{root}");
        let condition = json!({ "clock": { "gte": "12:00:00.1234561" } });
        assert_eq!(ids(&app, root, ty, &condition).await, json!([2]), "{root}");
    }
    let declared = app
        .query(&format!(
            "{{ byDay(at: \"{}\") {{ id }} }}",
            at("123456789")
        ))
        .await;
    assert_eq!(declared.data()["byDay"], json!([]));
}
