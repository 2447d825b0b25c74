//! Rows that a function or SQL gives in place of their view, over the three kinds of views.

use serde_json::{Value, json};
use svc::prelude::*;
use svc::testing::check_views;
use svc_tests::{App, TestDatabase, agreed_data, three_views};

/// The same types and queries over views of one kind.
macro_rules! places {
    ($kind:ident, $place:literal, $city:literal, $nearby:literal, $sql:literal) => {
        mod $kind {
            use super::*;

            #[svc_type(name = $place, sql_source = $place)]
            pub(super) struct Place {
                pub(super) id: i32,
                pub(super) name: String,
                pub(super) x: f64,
                pub(super) tags: Vec<String>,
                pub(super) city_id: i32,
                #[relation(from = "city_id", to = "id")]
                pub(super) city: Option<One<City>>,
            }

            #[svc_type]
            impl Place {
                fn shout(&self) -> String {
                    self.name.to_uppercase()
                }
            }

            #[svc_type(name = $city, sql_source = $city)]
            pub(super) struct City {
                pub(super) id: i32,
                pub(super) name: String,
                #[relation(from = "id", to = "city_id")]
                pub(super) places: Many<Place>,
            }

            #[svc::query(function = $nearby)]
            pub(super) async fn nearby(at: f64, within: Option<f64>) -> Vec<Place>;
            #[svc::query(function = $nearby, order_by = "-name")]
            pub(super) async fn by_name(at: f64) -> Vec<Place>;
            #[svc::query(function = $nearby)]
            pub(super) async fn pages(at: f64, within: Option<f64>) -> Connection<Place>;
            #[svc::query(function = $nearby)]
            pub(super) async fn sums(at: f64, within: Option<f64>) -> Aggregate<Place>;
            #[svc::query(function = $nearby)]
            pub(super) async fn nearest(at: f64, within: Option<f64>) -> Option<Place>;
            #[svc::query(function = $nearby)]
            pub(super) async fn must(at: f64, within: Option<f64>) -> Place;
            #[svc::query(sql = $sql)]
            pub(super) async fn tagged(tags: Vec<String>, x: Option<f64>) -> Vec<Place>;
        }
    };
}

places!(
    columns,
    "c_place",
    "c_city",
    "app.c_nearby",
    "SELECT * FROM c_place WHERE tags && $1::text[] AND x < coalesce($2, 'infinity'::float8) ORDER BY x DESC -- far first"
);
places!(
    data,
    "d_place",
    "d_city",
    "app.d_nearby",
    "SELECT * FROM d_place WHERE data->'tags' ?| $1::text[] AND (data->>'x')::float8 < coalesce($2, 'infinity'::float8)
     ORDER BY (data->>'x')::float8 DESC"
);
places!(
    table,
    "tv_place",
    "tv_city",
    "app.tv_nearby",
    "SELECT * FROM tv_place WHERE data->'tags' ?| $1::text[] AND (data->>'x')::float8 < coalesce($2, 'infinity'::float8)
     ORDER BY (data->>'x')::float8 DESC"
);

/// A function that gives the places of a view from near to far.
fn nearby(view: &str, x: &str) -> String {
    format!(
        "CREATE FUNCTION app.{view}_nearby(at float8, within float8 DEFAULT 2.5) RETURNS SETOF {view}_place LANGUAGE sql STABLE AS
           $$ SELECT * FROM {view}_place WHERE abs({x} - at) <= coalesce(within, 'infinity') ORDER BY abs({x} - at), {x} $$;"
    )
}

fn sql() -> String {
    let tables = "
        CREATE SCHEMA app;
        CREATE TABLE tb_city (id int PRIMARY KEY, name text NOT NULL);
        CREATE TABLE tb_place (id int PRIMARY KEY, name text NOT NULL, x float8 NOT NULL, tags text[] NOT NULL, city_id int);
        INSERT INTO tb_city VALUES (1, 'Ayr'), (2, 'Bonn');
        INSERT INTO tb_place VALUES (1, 'inn', 4, '{bed,beer}', 1), (2, 'pub', 1, '{beer}', 1), (3, 'bar', 2, '{beer}', 2),
          (4, 'spa', 3.5, '{}', 2), (5, 'zoo', 9, '{beer,bears}', 2);";
    let views = three_views("city", "id") + &three_views("place", "id");
    let functions = nearby("c", "x")
        + &nearby("d", "(data->>'x')::float8")
        + &nearby("tv", "(data->>'x')::float8");
    tables.to_owned() + &views + &functions
}

async fn database() -> TestDatabase {
    TestDatabase::copy_of("row_sources", &sql()).await
}

fn options(kind: &str, database: &TestDatabase) -> AppOptions {
    macro_rules! queries_of {
        ($kind:ident) => {
            queries![
                $kind::nearby,
                $kind::by_name,
                $kind::pages,
                $kind::sums,
                $kind::nearest,
                $kind::must,
                $kind::tagged
            ]
        };
    }
    let list = match kind {
        "columns" => queries_of!(columns),
        "data" => queries_of!(data),
        _ => queries_of!(table),
    };
    AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true)
        .queries(list)
}

/// Asks the three kinds the same, twice each, and gives the one answer they must have.
async fn same_with(query: &str, configure: impl Fn(&str, AppOptions) -> AppOptions) -> Value {
    let database = database().await;
    let ask = async |kind| {
        let app = App::serve(configure(kind, options(kind, &database))).await;
        let first = app.query(query).await.text;
        assert_eq!(
            app.query(query).await.text,
            first,
            "kept statements answer {query} as new ones"
        );
        first
    };
    agreed_data(query, ["columns", "data", "table"], ask).await
}

async fn same(query: &str) -> Value {
    same_with(query, |_, options| options).await
}

fn names(rows: &Value) -> Vec<&str> {
    rows.as_array()
        .expect("a list")
        .iter()
        .map(|row| row["name"].as_str().expect("a name"))
        .collect()
}

#[tokio::test]
async fn rows_come_in_the_order_in_which_they_are_given() {
    let answer = same(
        "{ all: nearby(at: 2, within: null) { name } near: nearby(at: 2) { name } far: nearby(at: 9) { name shout } }",
    )
    .await;
    assert_eq!(names(&answer["all"]), ["bar", "pub", "spa", "inn", "zoo"]);
    // What is left out is the function's default.
    assert_eq!(names(&answer["near"]), ["bar", "pub", "spa", "inn"]);
    assert_eq!(answer["far"], json!([{ "name": "zoo", "shout": "ZOO" }]));
    let answer = same(
        r#"{ tagged(tags: ["beer", "none"]) { name shout } less: tagged(tags: ["bed", "bears"], x: 9) { name } }"#,
    )
    .await;
    assert_eq!(names(&answer["tagged"]), ["zoo", "inn", "bar", "pub"]);
    assert_eq!(names(&answer["less"]), ["inn"]);
}

#[tokio::test]
async fn conditions_orders_and_pages_are_the_clients() {
    for (arguments, found) in [
        (
            "at: 2, where: {name: {neq: \"bar\"}}",
            ["pub", "spa", "inn"].as_slice(),
        ),
        (
            "at: 2, orderBy: [{name: ASC}]",
            &["bar", "inn", "pub", "spa"],
        ),
        ("at: 2, limit: 2, offset: 1", &["pub", "spa"]),
        ("at: 2, limit: 9, offset: 3", &["inn"]),
        (
            "at: 2, where: {city: {name: {eq: \"Ayr\"}}}, limit: 1",
            &["pub"],
        ),
        ("at: 2, where: {tags: {contains: \"bed\"}}", &["inn"]),
        ("at: 2, limit: 0", &[]),
    ] {
        let answer = same(&format!("{{ nearby({arguments}) {{ name }} }}")).await;
        assert_eq!(names(&answer["nearby"]), found, "{arguments}");
    }
    assert_eq!(
        names(&same("{ byName(at: 2) { name } }").await["byName"]),
        ["spa", "pub", "inn", "bar"]
    );
    let answer = same("{ byName(at: 2, orderBy: [{city: {name: ASC}}]) { name } }").await;
    assert_eq!(names(&answer["byName"]), ["pub", "inn", "spa", "bar"]);
}

#[tokio::test]
async fn relations_lead_on_from_the_views() {
    let answer = same(
        "{ nearby(at: 2, limit: 1) { name city { name places(where: {x: {gt: 2}}, orderBy: [{x: DESC}]) { name city { id } } } } }",
    )
    .await;
    let places =
        json!([{ "name": "zoo", "city": { "id": 2 } }, { "name": "spa", "city": { "id": 2 } }]);
    assert_eq!(
        answer["nearby"],
        json!([{ "name": "bar", "city": { "name": "Bonn", "places": places } }])
    );
}

#[tokio::test]
async fn single_rows_and_aggregates_are_of_what_is_given() {
    let answer = same(
        "{ nearest(at: 8) { name shout } none: nearest(at: 90) { name } must(at: 4) { name } }",
    )
    .await;
    assert_eq!(
        answer,
        json!({ "nearest": { "name": "zoo", "shout": "ZOO" }, "none": null, "must": { "name": "inn" } })
    );
    let answer = same(
        "{ sums(at: 2, where: {name: {neq: \"bar\"}}) { count max { x } groups(by: [CITY_ID], orderBy: [{key: {cityId: ASC}}]) { count key { cityId } } } }",
    )
    .await;
    let groups =
        json!([{ "count": 2, "key": { "cityId": 1 } }, { "count": 1, "key": { "cityId": 2 } }]);
    assert_eq!(
        answer["sums"],
        json!({ "count": 3, "max": { "x": 4 }, "groups": groups })
    );
}

#[tokio::test]
async fn cursors_lead_through_what_is_given() {
    let database = database().await;
    for kind in ["columns", "data", "table"] {
        let app = App::serve(options(kind, &database)).await;
        for order in [
            "",
            ", orderBy: [{name: DESC}]",
            ", orderBy: [{cityId: ASC}]",
        ] {
            let all = format!(
                "{{ nearby(at: 2, within: 9{}) {{ id name }} }}",
                if order.is_empty() {
                    ", orderBy: [{id: ASC}]"
                } else {
                    order
                }
            );
            let all = app.query(&all).await.data()["nearby"].clone();
            let (mut found, mut after) = (Vec::new(), String::new());
            loop {
                let page = format!(
                    "{{ pages(at: 2, within: 9{order}, first: 2{after}) {{ totalCount nodes {{ id name }} pageInfo {{ hasNextPage endCursor }} }} }}"
                );
                let page = app.query(&page).await.data()["pages"].clone();
                assert_eq!(page["totalCount"], 5);
                found.extend(page["nodes"].as_array().unwrap().iter().cloned());
                if page["pageInfo"]["hasNextPage"] == false {
                    break;
                }
                after = format!(", after: {}", page["pageInfo"]["endCursor"]);
            }
            assert_eq!(Value::from(found), all, "{kind}{order}");
        }
        let last =
            app.query("{ pages(at: 2, within: 9, last: 2) { nodes { id } pageInfo { hasPreviousPage } } }").await;
        assert_eq!(
            last.data()["pages"],
            json!({ "nodes": [{ "id": 4 }, { "id": 5 }], "pageInfo": { "hasPreviousPage": true } })
        );
    }
}

#[tokio::test]
async fn a_root_field_is_one_statement() {
    let database = database().await;
    let app = App::serve(options("columns", &database)).await;
    for at in 0..5 {
        app.query(&format!("{{ nearby(at: {at}, where: {{x: {{gt: 1}}}}, limit: {at}) {{ name city {{ name }} }} }}"))
            .await
            .data();
        app.query(&format!(
            "{{ pages(at: {at}, first: 2) {{ totalCount nodes {{ name }} pageInfo {{ hasNextPage }} }} }}"
        ))
        .await
        .data();
    }
    assert_eq!(database.statements("_nearby").await, 10);
}

#[tokio::test]
async fn policies_hold_for_what_is_given() {
    let policies = |kind: &str, options: AppOptions| {
        let of_bonn = || RowDecision::allow_where(col("city_id").eq(2));
        match kind {
            "columns" => options.row_policy::<columns::Place>(move |_| Ok(of_bonn())),
            "data" => options.row_policy::<data::Place>(move |_| Ok(of_bonn())),
            _ => options.row_policy::<table::Place>(move |_| Ok(of_bonn())),
        }
    };
    let answer = same_with(
        r#"{ nearby(at: 2, within: null, limit: 2) { name city { places { name } } } tagged(tags: ["beer"]) { name }
             nearest(at: 1) { name } sums(at: 2, within: null) { count } pages(at: 2, within: null) { totalCount nodes { name } } }"#,
        policies,
    )
    .await;
    let city = json!({ "places": [{ "name": "bar" }, { "name": "spa" }, { "name": "zoo" }] });
    assert_eq!(
        answer["nearby"],
        json!([{ "name": "bar", "city": city }, { "name": "spa", "city": city }])
    );
    assert_eq!(names(&answer["tagged"]), ["zoo", "bar"]);
    assert_eq!(answer["nearest"], json!({ "name": "bar" }));
    assert_eq!(answer["sums"], json!({ "count": 3 }));
    assert_eq!(answer["pages"]["totalCount"], 3);
    assert_eq!(names(&answer["pages"]["nodes"]), ["bar", "spa", "zoo"]);
}

mod values {
    use super::*;

    #[svc_type(sql_source = "v_echo")]
    pub(super) struct Echo {
        id: i32,
        data: Value,
    }

    #[svc_enum]
    pub(super) enum Colour {
        Red,
        DarkBlue,
    }

    #[svc_input]
    pub(super) struct Area {
        from_x: i32,
        names: Option<Vec<String>>,
    }

    #[svc::query(function = "echo", context = ["who"])]
    pub(super) async fn echo(
        id: Uuid,
        colours: Vec<Colour>,
        area: Option<Area>,
        at: Option<DateTime<Utc>>,
    ) -> Vec<Echo>;
    #[svc::query(
        sql = "SELECT 1 AS id, jsonb_build_object('who', $1::text, 'id', $2::uuid, 'colours', $3::text[], 'area', $4::jsonb, 'at', $5::timestamptz) AS data",
        context = ["who"]
    )]
    pub(super) async fn select(
        id: Uuid,
        colours: Vec<Colour>,
        area: Option<Area>,
        at: Option<DateTime<Utc>>,
    ) -> Vec<Echo>;
}

#[tokio::test]
async fn arguments_keep_their_values() {
    let database = TestDatabase::new(
        "CREATE VIEW v_echo AS SELECT 1 AS id, '{}'::jsonb AS data;
         CREATE FUNCTION echo(who text, id uuid, colours text[], area jsonb, at timestamptz) RETURNS SETOF v_echo LANGUAGE sql STABLE AS
           $$ SELECT 1, jsonb_build_object('who', who, 'id', id, 'colours', colours, 'area', area, 'at', at) $$;",
    )
    .await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    let options = options.queries(queries![values::echo, values::select]);
    let app =
        App::serve(options.context_value("who", |_| Ok(Some("O'Hara \"$1\"".to_owned())))).await;
    let id = "6f9619ff-8b86-4011-b42d-00c04fc964ff";
    for root in ["echo", "select"] {
        for (area, at, colours) in [
            (Value::Null, Value::Null, json!([])),
            (
                json!({ "fromX": 7, "names": ["a,b", "\"{}\"", "NULL"] }),
                json!("2026-11-24T00:00:00Z"),
                json!(["DARK_BLUE", "RED"]),
            ),
        ] {
            let document = format!(
                "query($id: UUID!, $colours: [Colour!]!, $area: Area, $at: DateTime) {{ answer: {root}(id: $id, colours: $colours, area: $area, at: $at) {{ data }} }}"
            );
            let variables = json!({ "id": id, "colours": colours, "area": area, "at": at });
            let reply = app.query_with(&document, variables).await;
            let data = reply.data()["answer"][0]["data"].clone();
            assert_eq!(
                (&data["who"], &data["id"]),
                (&json!("O'Hara \"$1\""), &json!(id)),
                "{root}"
            );
            let stored: Vec<_> = colours
                .as_array()
                .unwrap()
                .iter()
                .map(|colour| colour.as_str().unwrap())
                .collect();
            assert_eq!(
                data["colours"].as_array().unwrap().len(),
                stored.len(),
                "{root} {data}"
            );
            match area {
                Value::Null => assert_eq!(data["area"], Value::Null, "{root}"),
                _ => assert_eq!(
                    data["area"],
                    json!({ "from_x": 7, "names": ["a,b", "\"{}\"", "NULL"] }),
                    "{root}"
                ),
            }
            assert_eq!(data["at"].is_null(), at.is_null(), "{root}");
        }
        let nul = app.query_with(&format!("query($c: [Colour!]!) {{ {root}(id: \"{id}\", colours: $c, area: {{fromX: 1, names: [\"\\u0000\"]}}) {{ id }} }}"), json!({ "c": [] })).await;
        assert_eq!(nul.code(), "BAD_USER_INPUT", "{}", nul.text);
    }
}

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
async fn what_gives_no_rows_of_the_view_is_told() {
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
async fn an_argument_hides_none_of_the_rows_own() {
    let error = create_svc_app(AppOptions::new().queries(queries![wrong::limited]))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("the argument `limit` of `it::reads::row_sources::wrong::limited`"),
        "{error}"
    );
    assert!(error.contains("give it another name"), "{error}");
}
