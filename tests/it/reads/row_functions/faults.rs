//! Functions that do not fit their fields, and types without rows.

use super::*;

mod wrong {
    use super::*;

    #[svc_type(sql_source = "v_place")]
    pub(super) struct Place {
        id: i32,
        name: String,
    }

    #[svc_type]
    impl Place {
        #[svc(function = "absent")]
        fn absent(&self) -> i32;
        #[svc(function = "writes")]
        fn writes(&self) -> i32;
        #[svc(function = "of_table")]
        fn of_table(&self) -> i32;
        #[svc(function = "set")]
        fn set(&self) -> i32;
        #[svc(function = "text")]
        fn text(&self) -> i32;
        #[svc(function = "args")]
        fn args(&self, many: Vec<i32>) -> i32;
        #[svc(function = "right")]
        fn right(&self) -> i32;
    }

    #[svc::query]
    pub(super) async fn places() -> Vec<Place>;

    #[svc_type]
    pub(super) struct Bare {
        id: i32,
    }

    #[svc_type]
    impl Bare {
        #[svc(function = "f")]
        fn bare(&self) -> i32;
    }

    #[svc_type(sql_source = "v_place")]
    pub(super) struct Nameless {
        name: String,
    }

    #[svc_type]
    impl Nameless {
        #[svc(function = "f")]
        fn computed(&self) -> i32;
    }

    #[svc_type(sql_source = "v_place")]
    pub(super) struct Whole {
        id: i32,
    }

    #[svc_type]
    impl Whole {
        #[svc(function = "f")]
        fn itself(&self) -> Option<Nameless>;
    }

    #[svc::query]
    pub(super) async fn bare() -> Bare {
        Bare { id: 1 }
    }
    #[svc::query]
    pub(super) async fn nameless() -> Vec<Nameless>;
    #[svc::query]
    pub(super) async fn whole() -> Vec<Whole>;
}

/// At the start and by the helper for tests, each with what to do.
#[tokio::test]
async fn mismatched_functions_are_reported() {
    let database = TestDatabase::new(
        "CREATE TABLE place (id int, name text); CREATE VIEW v_place AS SELECT * FROM place; INSERT INTO place VALUES (1, 'inn');
         CREATE FUNCTION writes(p v_place) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;
         CREATE FUNCTION of_table(p place) RETURNS int LANGUAGE sql STABLE AS $$ SELECT 1 $$;
         CREATE FUNCTION set(p v_place) RETURNS SETOF int LANGUAGE sql STABLE AS $$ SELECT 1 $$;
         CREATE FUNCTION text(p v_place) RETURNS text LANGUAGE sql STABLE AS $$ SELECT '1' $$;
         CREATE FUNCTION args(p v_place, one int) RETURNS int LANGUAGE sql STABLE AS $$ SELECT 1 $$;
         CREATE FUNCTION \"right\"(p v_place) RETURNS int LANGUAGE sql STABLE AS $$ SELECT p.id $$;",
    )
    .await;
    let options = || {
        AppOptions::new()
            .database_url(database.url())
            .auto_camel_case(true)
            .queries(queries![wrong::places])
    };
    let found = check_views(&options(), &database.url()).await.unwrap();
    let told = |field: &str| {
        found
            .iter()
            .find(|finding| finding.field == format!("Place.{field}"))
            .map(|finding| finding.cause.clone())
    };
    for (field, part) in [
        ("absent", "the function `absent` does not exist"),
        (
            "writes",
            "`writes` is volatile, and a read may run twice; declare it STABLE or IMMUTABLE",
        ),
        (
            "ofTable",
            "`of_table` does not take a row of `v_place` as its first parameter",
        ),
        (
            "set",
            "`set` answers with a set, and a field has one value; let it return an array",
        ),
        ("text", "`text` gives text, which does not fit its field"),
        (
            "args",
            "`args` is called as `args(v_place, list)`, but there is `args(v_place, integer)`",
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
        app.query("{ places { right } }").await.data(),
        json!({ "places": [{ "right": 1 }] })
    );
    for field in [
        "absent",
        "writes",
        "ofTable",
        "set",
        "text",
        "args(many: [])",
    ] {
        let reply = app.query(&format!("{{ places {{ {field} }} }}")).await;
        assert_eq!(
            reply.code(),
            "INTERNAL_SERVER_ERROR",
            "{field}: {}",
            reply.text
        );
    }
    for condition in ["absent: {eq: 1}", "text: {eq: 1}"] {
        let reply = app
            .query(&format!("{{ places(where: {{{condition}}}) {{ id }} }}"))
            .await;
        assert_eq!(
            reply.code(),
            "INTERNAL_SERVER_ERROR",
            "{condition}: {}",
            reply.text
        );
    }
    // A function that comes, or is mended, or means something else, is used.
    database.execute("CREATE FUNCTION absent(v_place) RETURNS int LANGUAGE sql STABLE AS $$ SELECT 7 $$; ALTER FUNCTION writes STABLE").await;
    app.until_data(
        "{ places { absent writes } }",
        &json!({ "places": [{ "absent": 7, "writes": 1 }] }),
    )
    .await;
    database.execute("DROP FUNCTION absent(v_place); CREATE FUNCTION absent(v_place, more int DEFAULT 2) RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT 8::bigint $$").await;
    app.until_data(
        "{ places(where: {absent: {gt: 7}}) { absent } }",
        &json!({ "places": [{ "absent": 8 }] }),
    )
    .await;
    database.execute("DROP VIEW v_place CASCADE; CREATE VIEW v_place AS SELECT name, id, 1 AS more FROM place; CREATE FUNCTION absent(v_place) RETURNS int LANGUAGE sql STABLE AS $$ SELECT $1.more $$").await;
    app.until_data(
        "{ places { absent } }",
        &json!({ "places": [{ "absent": 1 }] }),
    )
    .await;
}

#[tokio::test]
async fn types_without_rows_are_errors_at_the_start() {
    for (options, part) in [
        (
            AppOptions::new().queries(queries![wrong::bare]),
            "Bare` has no view; write `#[svc_type(sql_source = \"v_…\")]`",
        ),
        (
            AppOptions::new().queries(queries![wrong::nameless]),
            "Nameless` has no stored field `id`",
        ),
        (
            AppOptions::new().queries(queries![wrong::whole]),
            "Whole::itself` is computed by a function of the database, which gives a scalar",
        ),
    ] {
        let error = create_svc_app(options).await.unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}
