//! Rows that a function or SQL gives in place of their view, over the three kinds of views.

mod arguments;
mod misfits;
mod policies;
mod rows;

use serde_json::Value;
use svc::prelude::*;
use svc_tests::{App, Kinds, TestDatabase, three_views};

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

fn options(kind: &str) -> AppOptions {
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
    AppOptions::new().auto_camel_case(true).queries(list)
}

/// The services of the three kinds, which must give the same answers.
async fn kinds() -> Kinds {
    kinds_with(|_, options| options).await
}

async fn kinds_with(configure: impl Fn(&str, AppOptions) -> AppOptions) -> Kinds {
    let url = TestDatabase::shared("row_sources", &sql()).await;
    Kinds::serve(|kind| configure(kind, options(kind)).database_url(&url)).await
}

/// Asks the three kinds the same, twice each, and gives the one answer they must have.
async fn same(kinds: &Kinds, query: &str) -> Value {
    let ask = async |app: &App| {
        let first = app.query(query).await.text;
        assert_eq!(
            app.query(query).await.text,
            first,
            "kept statements answer {query} as new ones"
        );
        first
    };
    kinds.same_by(query, ask).await
}

fn names(rows: &Value) -> Vec<&str> {
    rows.as_array()
        .expect("a list")
        .iter()
        .map(|row| row["name"].as_str().expect("a name"))
        .collect()
}
