//! Fields that functions of the database compute of rows, over the three kinds of views.

mod arguments;
mod embedded;
mod faults;
mod pages;
mod rules;

use serde_json::{Value, json};
use svc::authz::Authorizer;
use svc::prelude::*;
use svc::testing::check_views;
use svc_tests::{App, Kinds, TestDatabase, three_views};

/// The same types and queries over views of one kind.
macro_rules! places {
    ($kind:ident, $place:literal, $city:literal) => {
        mod $kind {
            use super::*;

            #[svc_enum(name = "Mood")]
            pub(super) enum Mood {
                Calm,
                FarOut,
            }

            #[svc_type(name = "Place", sql_source = $place, authorize_fields = ["secret"])]
            pub(super) struct Place {
                pub(super) id: i32,
                pub(super) name: String,
                pub(super) x: f64,
                pub(super) score: Option<i32>,
                pub(super) city_id: i32,
                #[relation(from = "city_id", to = "id")]
                pub(super) city: Option<One<City>>,
            }

            #[svc_type]
            impl Place {
                /// The distance.
                #[svc(function = "app.distance")]
                fn distance(&self, at: f64, #[svc(range(..=10.0))] scale: Option<f64>) -> f64;
                #[svc(function = "app.full_name")]
                pub(super) fn full_name(&self) -> String;
                #[svc(function = "app.mood", cost = 9)]
                fn mood(&self, #[svc(default = CALM)] other: Mood) -> Option<Mood>;
                #[svc(function = "app.words")]
                fn words(&self, more: Vec<String>) -> Vec<String>;
                #[svc(function = "app.points")]
                fn points(&self) -> Option<i32>;
                #[svc(function = "app.secret")]
                fn secret(&self, key: String) -> Option<String>;
                #[svc(function = "app.inverse")]
                fn inverse(&self) -> Option<f64>;

                fn shout(&self) -> String {
                    self.name.to_uppercase()
                }
            }

            #[svc_type(name = "City", sql_source = $city)]
            pub(super) struct City {
                pub(super) id: i32,
                pub(super) name: String,
                #[relation(from = "id", to = "city_id", connection)]
                pub(super) places: Many<Place>,
            }

            #[svc_type]
            impl City {
                #[svc(function = "app.initial")]
                fn initial(&self, upper: bool) -> String;
            }

            #[svc::query]
            pub(super) async fn places() -> Vec<Place>;
            #[svc::query]
            pub(super) async fn place(id: i32) -> Option<Place>;
            #[svc::query]
            pub(super) async fn pages() -> Connection<Place>;
            #[svc::query]
            pub(super) async fn sums() -> Aggregate<Place>;
            #[svc::query]
            pub(super) async fn cities() -> Vec<City>;
            #[svc::query]
            pub(super) async fn resolved(ctx: &Context<'_>) -> Result<Vec<Place>> {
                Ok(ctx.db().find::<Place>().await?.into_iter().rev().collect())
            }
            #[svc::query]
            pub(super) async fn found(ctx: &Context<'_>) -> Result<Find<Place>> {
                Ok(ctx.db().find::<Place>().order_by(desc("id")).limit(2))
            }
        }
    };
}

places!(columns, "c_place", "c_city");
places!(data, "d_place", "d_city");
places!(table, "tv_place", "tv_city");

/// The functions for the rows of one kind of views; `of` gives the SQL of a field as text.
fn functions(view: &str, of: impl Fn(&str) -> String) -> String {
    let (x, name, city, score) = (of("x"), of("name"), of("city_id"), of("score"));
    let city_name = name.clone();
    format!(
        "CREATE FUNCTION app.distance(p {view}_place, at float8, scale float8 DEFAULT 1) RETURNS float8 LANGUAGE sql IMMUTABLE AS
           $$ SELECT abs(({x})::float8 - at) * scale $$;
         CREATE FUNCTION app.full_name({view}_place) RETURNS text LANGUAGE sql STABLE AS $$ SELECT {} || '@' || {} $$;
         CREATE FUNCTION app.mood(p {view}_place, other text) RETURNS text LANGUAGE sql STABLE AS
           $$ SELECT CASE WHEN ({x})::float8 > 4 THEN 'FAR_OUT' WHEN ({x})::float8 > 1 THEN other END $$;
         CREATE FUNCTION app.words(p {view}_place, more text[]) RETURNS text[] LANGUAGE sql STABLE AS $$ SELECT {name} || more $$;
         CREATE FUNCTION app.points(p {view}_place) RETURNS int LANGUAGE sql STABLE AS $$ SELECT ({score})::int * 10 $$;
         CREATE FUNCTION app.secret(p {view}_place, key text) RETURNS text LANGUAGE sql STABLE AS $$ SELECT key || {name} $$;
         CREATE FUNCTION app.inverse(p {view}_place) RETURNS float8 LANGUAGE sql STABLE AS $$ SELECT 1 / (({x})::float8 - 9) $$;
         CREATE FUNCTION app.initial(p {view}_city, upper boolean) RETURNS text LANGUAGE sql STABLE AS
           $$ SELECT CASE WHEN upper THEN upper(left({city_name}, 1)) ELSE lower(left({city_name}, 1)) END $$;",
        name.replace("p.", "$1."),
        city.replace("p.", "$1."),
    )
}

fn sql() -> String {
    let tables = "
        CREATE SCHEMA app;
        CREATE TABLE tb_city (id int PRIMARY KEY, name text NOT NULL);
        CREATE TABLE tb_place (id int PRIMARY KEY, name text NOT NULL, x float8 NOT NULL, score int, city_id int);
        INSERT INTO tb_city VALUES (1, 'Ayr'), (2, 'Bonn');
        INSERT INTO tb_place VALUES (1, 'inn', 4, 3, 1), (2, 'pub', 1, NULL, 1), (3, 'bar', 2, 1, 2), (4, 'spa', 3.5, 2, 2),
          (5, 'zoo', 9, NULL, 2);";
    let views = three_views("city", "id") + &three_views("place", "id");
    let in_data = |field: &str| format!("(p.data->>'{field}')");
    let functions = functions("c", |field| format!("p.{field}"))
        + &functions("d", in_data)
        + &functions("tv", in_data);
    tables.to_owned() + &views + &functions
}

async fn database() -> TestDatabase {
    TestDatabase::copy_of("row_functions", &sql()).await
}

fn options(kind: &str) -> AppOptions {
    macro_rules! queries_of {
        ($kind:ident) => {
            queries![
                $kind::places,
                $kind::place,
                $kind::pages,
                $kind::sums,
                $kind::cities,
                $kind::resolved,
                $kind::found
            ]
        };
    }
    let list = match kind {
        "columns" => queries_of!(columns),
        "data" => queries_of!(data),
        _ => queries_of!(table),
    };
    let options = AppOptions::new().auto_camel_case(true).queries(list);
    options.authorizer(Keyed)
}

/// Requests with a key may have the secret.
struct Keyed;

impl Authorizer for Keyed {
    async fn authorize_operation(
        &self,
        request: AuthorizationRequest,
    ) -> Result<AuthorizationDecision> {
        let is_secret = request.operation_name() == "Place.secret";
        Ok(
            match is_secret && !request.context().headers().contains_key("x-key") {
                true => AuthorizationDecision::deny(),
                false => AuthorizationDecision::allow(),
            },
        )
    }
}

/// The URL of a database that no test changes.
async fn url() -> String {
    TestDatabase::shared("row_functions", &sql()).await
}

/// The services of the three kinds, which must give the same answers.
async fn kinds() -> Kinds {
    kinds_with(|_, options| options).await
}

async fn kinds_with(configure: impl Fn(&str, AppOptions) -> AppOptions) -> Kinds {
    let url = url().await;
    Kinds::serve(|kind| configure(kind, options(kind)).database_url(&url)).await
}

/// Asks the three kinds the same, three times each, and gives the one answer they must have.
async fn same_with(kinds: &Kinds, query: &str, variables: Value) -> Value {
    let ask = async |app: &App| {
        let first = app.query_with(query, variables.clone()).await.text;
        for _ in 0..2 {
            let again = app.query_with(query, variables.clone()).await.text;
            assert_eq!(again, first, "kept statements answer {query} as new ones");
        }
        first
    };
    kinds.same_by(query, ask).await
}

async fn same(kinds: &Kinds, query: &str) -> Value {
    same_with(kinds, query, json!({})).await
}

fn column(rows: &Value, name: &str) -> Vec<Value> {
    rows.as_array()
        .expect("a list")
        .iter()
        .map(|row| row[name].clone())
        .collect()
}

#[tokio::test]
async fn values_are_computed_of_each_row() {
    let kinds = kinds().await;
    let answer = same(
        &kinds,
        r#"{ places(limit: 2) { id distance(at: 1) far: distance(at: 5, scale: 2) fullName mood
               other: mood(other: FAR_OUT) words(more: ["a,b", "\"{}"]) points city { initial(upper: true) low: initial(upper: false) } } }"#,
    )
    .await;
    let city = json!({ "initial": "A", "low": "a" });
    assert_eq!(
        answer["places"],
        json!([
            { "id": 1, "distance": 3, "far": 2, "fullName": "inn@1", "mood": "CALM", "other": "FAR_OUT",
              "words": ["inn", "a,b", "\"{}"], "points": 30, "city": city },
            { "id": 2, "distance": 0, "far": 8, "fullName": "pub@1", "mood": null, "other": null,
              "words": ["pub", "a,b", "\"{}"], "points": null, "city": city },
        ])
    );
    let one = same(
        &kinds,
        "{ place(id: 5) { mood distance(at: 0.5) } none: place(id: 9) { fullName } }",
    )
    .await;
    assert_eq!(
        one,
        json!({ "place": { "mood": "FAR_OUT", "distance": 8.5 }, "none": null })
    );
}

#[tokio::test]
async fn rows_are_filtered_by_computed_fields() {
    let kinds = kinds().await;
    for (condition, found) in [
        ("distance: {args: {at: 1}, lte: 2.5}", [2, 3, 4].as_slice()),
        ("distance: {args: {at: 1, scale: 2}, lt: 5, gt: 0}", &[3]),
        ("distance: {args: {at: 4}, in: [0, 5]}", &[1, 5]),
        (
            "OR: [{distance: {args: {at: 4}, eq: 0}}, {distance: {args: {at: 2}, eq: 0}}]",
            &[1, 3],
        ),
        ("NOT: {distance: {args: {at: 1}, lte: 2.5}}", &[1, 5]),
        ("fullName: {startswith: \"b\"}", &[3]),
        (
            "fullName: {eq: \"spa@2\"}, distance: {args: {at: 0}, gt: 1}",
            &[4],
        ),
        ("mood: {eq: CALM}", &[1, 3, 4]),
        (
            "mood: {args: {other: FAR_OUT}, in: [FAR_OUT]}",
            &[1, 3, 4, 5],
        ),
        ("mood: {isnull: true}", &[2]),
        (
            "words: {args: {more: [\"x\"]}, contains: [\"x\", \"inn\"]}",
            &[1],
        ),
        ("points: {gte: 20}", &[1, 4]),
        ("points: {neq: 30}", &[2, 3, 4, 5]),
        (
            "city: {initial: {args: {upper: false}, eq: \"b\"}}",
            &[3, 4, 5],
        ),
        ("distance: {args: {at: 1}}", &[1, 2, 3, 4, 5]),
    ] {
        let answer = same(
            &kinds,
            &format!("{{ places(where: {{{condition}}}, orderBy: [{{id: ASC}}]) {{ id }} sums(where: {{{condition}}}) {{ count }} }}"),
        )
        .await;
        assert_eq!(column(&answer["places"], "id"), found, "{condition}");
        assert_eq!(answer["sums"]["count"], found.len(), "{condition}");
    }
    let answer = same(
        &kinds,
        "{ cities(where: {places: {some: {distance: {args: {at: 1}, eq: 0}}}}) { name places(where: {points: {gt: 5}}, orderBy: [{points: DESC}]) { id points } } }",
    )
    .await;
    assert_eq!(
        answer["cities"],
        json!([{ "name": "Ayr", "places": [{ "id": 1, "points": 30 }] }])
    );
}

#[tokio::test]
async fn rows_are_ordered_by_computed_fields() {
    let kinds = kinds().await;
    for (order, found) in [
        ("{distance: {args: {at: 3}}}", [4, 1, 3, 2, 5]),
        (
            "{distance: {args: {at: 3}, direction: DESC}}",
            [5, 2, 3, 1, 4],
        ),
        ("{fullName: DESC}", [5, 4, 2, 1, 3]),
        (
            "{points: ASC_NULLS_FIRST}, {distance: {args: {at: 0}, direction: DESC}}",
            [5, 2, 3, 4, 1],
        ),
        (
            "{city: {initial: {args: {upper: true}, direction: DESC}}}, {id: DESC}",
            [5, 4, 3, 2, 1],
        ),
        (
            "{mood: {args: {}, direction: ASC}}, {id: ASC}",
            [1, 3, 4, 5, 2],
        ),
        (
            "{mood: {direction: DESC_NULLS_LAST}}, {id: ASC}",
            [5, 1, 3, 4, 2],
        ),
    ] {
        let answer = same(
            &kinds,
            &format!("{{ places(orderBy: [{order}]) {{ id }} }}"),
        )
        .await;
        assert_eq!(column(&answer["places"], "id"), found, "{order}");
    }
    let answer = same(
        &kinds,
        "{ places(orderBy: [{distance: {args: {at: 3}}}], limit: 2, offset: 1) { id distance(at: 3) } }",
    )
    .await;
    assert_eq!(
        answer["places"],
        json!([{ "id": 1, "distance": 1 }, { "id": 3, "distance": 1 }])
    );
}

#[tokio::test]
async fn cursors_walk_orders_by_computed_fields() {
    let kinds = kinds().await;
    for (kind, app) in kinds.each() {
        for order in [
            "{distance: {args: {at: 3}}}",
            "{distance: {args: {at: 3}, direction: DESC}}",
            "{points: DESC}, {fullName: ASC}",
            "{mood: {args: {other: FAR_OUT}}}",
        ] {
            let all = app
                .query(&format!("{{ places(orderBy: [{order}]) {{ id }} }}"))
                .await
                .data();
            let (mut found, mut after) = (Vec::new(), String::new());
            loop {
                let page = format!(
                    "{{ pages(orderBy: [{order}], first: 2{after}) {{ totalCount nodes {{ id }} edges {{ node {{ distance(at: 0) }} }} pageInfo {{ hasNextPage endCursor }} }} }}"
                );
                let page = app.query(&page).await.data()["pages"].clone();
                found.extend(column(&page["nodes"], "id"));
                if page["pageInfo"]["hasNextPage"] == false {
                    break;
                }
                after = format!(", after: {}", page["pageInfo"]["endCursor"]);
            }
            assert_eq!(found, column(&all["places"], "id"), "{kind} {order}");
        }
        // Of another point, a cursor says nothing.
        let page =
            app.query("{ pages(orderBy: [{distance: {args: {at: 3}}}], first: 1) { pageInfo { endCursor } } }").await;
        let cursor = page.data()["pages"]["pageInfo"]["endCursor"].clone();
        let refused = app
            .query(&format!("{{ pages(orderBy: [{{distance: {{args: {{at: 4}}}}}}], first: 1, after: {cursor}) {{ nodes {{ id }} }} }}"))
            .await;
        assert_eq!(refused.code(), "BAD_USER_INPUT", "{}", refused.text);
    }
}

#[tokio::test]
async fn values_come_through_variables() {
    let kinds = kinds().await;
    let document = "query($at: Float!, $args: PlaceDistanceArgs!, $where: PlaceWhere, $order: [PlaceOrderBy!]) {
        places(where: $where, orderBy: $order) { distance(at: $at) id }
        near: places(where: {distance: {args: $args, lt: 2}}, orderBy: [{distance: {args: {at: $at}}}, {id: ASC}]) { id } }";
    let variables = json!({
        "at": 2, "args": { "at": 3 }, "where": { "distance": { "args": { "at": 4 }, "gt": 1 } },
        "order": [{ "distance": { "args": { "at": 0 }, "direction": "DESC" } }],
    });
    let answer = same_with(&kinds, document, variables).await;
    assert_eq!(column(&answer["places"], "distance"), [7, 0, 1]);
    assert_eq!(column(&answer["near"], "id"), [3, 4, 1]);
}

#[tokio::test]
async fn a_root_field_is_one_statement() {
    let database = database().await;
    let app = App::serve(options("columns").database_url(database.url())).await;
    for at in 0..6 {
        let query = format!(
            "{{ places(where: {{distance: {{args: {{at: {at}}}, lte: 3}}}}, orderBy: [{{distance: {{args: {{at: {at}}}}}}}, {{id: ASC}}]) {{
                 distance(at: {at}) far: distance(at: 9, scale: {at}) mood city {{ initial(upper: true) places(where: {{points: {{gt: {at}}}}}) {{ fullName }} }} }} }}"
        );
        app.query(&query).await.data();
    }
    assert_eq!(database.statements("\"app\".").await, 6);
}

#[tokio::test]
async fn values_in_hand_cost_one_statement_for_all_rows() {
    let kinds = kinds().await;
    let answer = same(
        &kinds,
        r#"{ resolved { id distance(at: 1) far: distance(at: 9) words(more: []) city { initial(upper: true) } shout mood }
             found { fullName points } whole: places(limit: 3) { shout fullName points city { places(limit: 1) { shout fullName } } }
             pages(first: 2) { nodes { shout distance(at: 4) } } }"#,
    )
    .await;
    assert_eq!(column(&answer["resolved"], "id"), [5, 4, 3, 2, 1]);
    assert_eq!(
        column(&answer["resolved"], "distance"),
        [json!(8), json!(2.5), json!(1), json!(0), json!(3)]
    );
    assert_eq!(
        column(&answer["resolved"], "far"),
        [json!(0), json!(5.5), json!(7), json!(8), json!(5)]
    );
    assert_eq!(
        Value::from(column(&answer["resolved"], "words")),
        json!([["zoo"], ["spa"], ["bar"], ["pub"], ["inn"]])
    );
    let city = json!({ "places": [{ "shout": "INN", "fullName": "inn@1" }] });
    assert_eq!(
        answer["whole"][1],
        json!({ "shout": "PUB", "fullName": "pub@1", "points": null, "city": city })
    );
    assert_eq!(
        answer["pages"]["nodes"][1],
        json!({ "shout": "PUB", "distance": 3 })
    );
    assert_eq!(
        answer["found"],
        json!([{ "fullName": "zoo@2", "points": null }, { "fullName": "spa@2", "points": 20 }])
    );
    let database = database().await;
    let app = App::serve(options("columns").database_url(database.url())).await;
    app.query("{ resolved { distance(at: 1) shout mood } }")
        .await
        .data();
    assert_eq!(database.statements("\"app\".").await, 2);
}
