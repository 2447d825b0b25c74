//! Functions and SQL that do not give the rows of the view.

use serde_json::json;
use svc::prelude::*;
use svc::testing::check_views;
use svc_tests::{App, TestDatabase};

mod wrong {
    use super::*;

    #[svc_type(sql_source = "v_place")]
    pub(super) struct Place {
        id: i32,
        name: String,
    }

    #[svc::query(function = "absent")]
    pub(super) async fn absent(id: i32) -> Vec<Place>;
    #[svc::query(function = "writes")]
    pub(super) async fn writes(id: i32) -> Vec<Place>;
    #[svc::query(function = "of_table")]
    pub(super) async fn of_table(id: i32) -> Vec<Place>;
    #[svc::query(function = "single")]
    pub(super) async fn single(id: i32) -> Option<Place>;
    #[svc::query(sql = "SELECT * FROM nowhere")]
    pub(super) async fn nowhere() -> Vec<Place>;
    #[svc::query(sql = "SELECT id FROM v_place")]
    pub(super) async fn without_name() -> Vec<Place>;
    #[svc::query(sql = "SELECT id::bigint, name FROM v_place")]
    pub(super) async fn other_type() -> Vec<Place>;
    #[svc::query(sql = "SELECT * FROM v_place WHERE id > $1")]
    pub(super) async fn right(id: i32) -> Vec<Place>;
    #[svc::query(function = "rows")]
    pub(super) async fn limited(limit: i32) -> Vec<Place>;
}

/// At the start and by the helper for tests, each with what to do.
#[tokio::test]
async fn sources_without_rows_of_the_view_are_reported() {
    let database = TestDatabase::new(
        "CREATE TABLE place (id int, name text); CREATE VIEW v_place AS SELECT * FROM place; INSERT INTO place VALUES (1, 'inn'), (2, 'bar');
         CREATE FUNCTION writes(id int) RETURNS SETOF v_place LANGUAGE sql AS $$ SELECT * FROM v_place $$;
         CREATE FUNCTION of_table(id int) RETURNS SETOF place LANGUAGE sql STABLE AS $$ SELECT * FROM place $$;
         CREATE FUNCTION single(id int) RETURNS v_place LANGUAGE sql STABLE AS $$ SELECT * FROM v_place $$;",
    )
    .await;
    let options = || {
        let list = queries![
            wrong::absent,
            wrong::writes,
            wrong::of_table,
            wrong::single,
            wrong::nowhere,
            wrong::without_name,
            wrong::other_type,
            wrong::right
        ];
        AppOptions::new()
            .database_url(database.url())
            .auto_camel_case(true)
            .queries(list)
    };
    let found = check_views(&options(), &database.url()).await.unwrap();
    let told = |field: &str| {
        found
            .iter()
            .find(|finding| finding.field == format!("Query.{field}"))
            .map(|finding| finding.cause.clone())
    };
    for (field, part) in [
        ("absent", "the function `absent` does not exist"),
        (
            "writes",
            "`public.writes` is volatile, and a read may run twice; declare it STABLE",
        ),
        (
            "ofTable",
            "does not answer with rows of `v_place`; let it RETURN SETOF v_place",
        ),
        (
            "single",
            "does not answer with rows of `v_place`; let it RETURN SETOF v_place",
        ),
        ("nowhere", "relation \"nowhere\" does not exist"),
        (
            "withoutName",
            "its SQL gives no column `name`, which `v_place` has",
        ),
        (
            "otherType",
            "its SQL gives `id` as int8, and `v_place` has it as int4",
        ),
    ] {
        assert!(
            told(field).is_some_and(|cause| cause.contains(part)),
            "{field}: {:?}",
            told(field)
        );
    }
    assert_eq!(told("right"), None);
    let app = App::serve(options()).await;
    assert_eq!(
        app.query("{ right(id: 1) { name } }").await.data(),
        json!({ "right": [{ "name": "bar" }] })
    );
    for field in [
        "absent(id: 1)",
        "writes(id: 1)",
        "ofTable(id: 1)",
        "single(id: 1)",
        "nowhere",
        "withoutName",
    ] {
        let reply = app
            .query(&format!("{{ {field} {{ name }} right(id: 1) {{ id }} }}"))
            .await;
        // A relation that is not there may come back.
        let code = if field == "nowhere" {
            "SERVICE_UNAVAILABLE"
        } else {
            "INTERNAL_SERVER_ERROR"
        };
        assert_eq!(reply.code(), code, "{field}: {}", reply.text);
    }
    // A function that comes, or is mended, is used.
    database.execute("CREATE FUNCTION absent(id int) RETURNS SETOF v_place LANGUAGE sql STABLE AS $$ SELECT * FROM v_place WHERE v_place.id = absent.id $$; ALTER FUNCTION writes STABLE").await;
    let mended = json!({ "absent": [{ "name": "bar" }], "writes": [{ "id": 1 }, { "id": 2 }] });
    app.until_data("{ absent(id: 2) { name } writes(id: 1) { id } }", &mended)
        .await;
}

#[tokio::test]
async fn an_argument_named_like_a_built_in_one_is_refused() {
    let error = create_svc_app(AppOptions::new().queries(queries![wrong::limited]))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("the argument `limit` of `it::reads::row_sources::misfits::wrong::limited`"),
        "{error}"
    );
    assert!(error.contains("give it another name"), "{error}");
}
