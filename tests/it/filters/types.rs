//! The rows as types of a schema, over the three kinds of views.

use svc::prelude::*;
use svc::scalar::{
    Cidr, DateRange, Duration, Inet, LTree, MacAddress, Percentage, Port, SearchVector, Slug,
};

/// A mood.
#[svc_enum]
#[derive(Debug, Clone, Copy)]
enum Mood {
    #[svc(stored = "glad")]
    Glad,
    #[svc(stored = "so so")]
    SoSo,
    Sad,
}

#[svc_type]
struct Seat {
    line: Option<i32>,
    since: Option<NaiveDate>,
}

#[svc_type]
struct Maker {
    id: Option<Uuid>,
    name: Option<String>,
    rank: Option<i32>,
    seat: Option<Seat>,
}

#[svc_type]
struct PartMaker {
    name: Option<String>,
}

#[svc_type]
struct Screw {
    length: Option<f64>,
    wait: Option<Duration>,
}

#[svc_type]
struct Part {
    name: Option<String>,
    slug: Option<Slug>,
    size: Option<Decimal>,
    at: Option<DateTime<Utc>>,
    labels: Option<Vec<String>>,
    host: Option<Inet>,
    maker: Option<PartMaker>,
    screws: Option<Vec<Screw>>,
}

macro_rules! thing {
    ($name:ident, $source:literal) => {
        #[svc_type(sql_source = $source)]
        struct $name {
            id: i32,
            name: Option<String>,
            slug: Option<Slug>,
            slugs: Option<Vec<Slug>>,
            code: Option<ID>,
            serial: Option<String>,
            mood: Option<Mood>,
            token: Option<Uuid>,
            key: Option<Uuid>,
            count: Option<i32>,
            big: Option<i64>,
            step: Option<f64>,
            score: Option<f64>,
            price: Option<Decimal>,
            flag: Option<bool>,
            day: Option<NaiveDate>,
            clock: Option<NaiveTime>,
            at: Option<DateTime<Utc>>,
            seen: Option<DateTime<Utc>>,
            words: Option<Vec<String>>,
            sizes: Option<Vec<i32>>,
            totals: Option<Vec<i64>>,
            hops: Option<Vec<Inet>>,
            moods: Option<Vec<Mood>>,
            meta: Option<serde_json::Value>,
            host: Option<Inet>,
            net: Option<Cidr>,
            mac: Option<MacAddress>,
            path: Option<LTree>,
            stay: Option<DateRange>,
            wait: Option<Duration>,
            share: Option<Percentage>,
            port: Option<Port>,
            search: Option<SearchVector>,
            maker: Option<Maker>,
            parts: Option<Vec<Part>>,
        }
    };
}

thing!(ColumnThing, "v_thing_columns");
thing!(DataThing, "v_thing_data");
thing!(TableThing, "tv_thing");

#[svc::query]
async fn columns() -> Vec<ColumnThing>;
#[svc::query]
async fn data() -> Vec<DataThing>;
#[svc::query]
async fn table() -> Vec<TableThing>;

/// A root field for each kind of view, and the type of its rows.
pub(super) const ROOTS: [(&str, &str); 3] = [
    ("columns", "ColumnThing"),
    ("data", "DataThing"),
    ("table", "TableThing"),
];

pub(super) fn options() -> AppOptions {
    AppOptions::new().queries(queries![columns, data, table])
}

/// The views over `tb_raw`, which has the rows as JSON.
pub(super) const SQL: &str = "
CREATE EXTENSION ltree;
DO $$ BEGIN EXECUTE format(
    'ALTER DATABASE %I SET default_text_search_config = ''pg_catalog.simple''', current_database()
); END $$;
CREATE TYPE mood AS ENUM ('glad', 'so so', 'SAD');
CREATE TABLE tb_raw (data jsonb);
CREATE VIEW v_thing_data AS SELECT data FROM tb_raw;
CREATE VIEW v_thing_columns AS
SELECT x.*, (x.maker ->> 'id')::uuid AS maker_id
FROM tb_raw, jsonb_to_record(data) AS x (
  id int, name text, slug text, slugs text[], code int, serial uuid, mood mood, token uuid, key text, count int, big bigint, step int,
  score double precision, price numeric, flag boolean, day date, clock time, at timestamptz, seen text, words text[],
  sizes int[], totals int[], hops inet[], moods mood[], meta jsonb, host inet, net cidr, mac macaddr, path ltree,
  stay daterange, wait interval, share numeric, port int, search tsvector, maker jsonb, parts jsonb
);
CREATE TABLE tv_thing (id int, name varchar, slug varchar, price numeric, wait interval, host inet, net inet, data json);";

/// Fills the table once the rows are there.
pub(super) const FILL: &str = "INSERT INTO tv_thing SELECT id, name, slug, price, wait, host, net, data FROM v_thing_columns JOIN tb_raw ON (data ->> 'id')::int = id";
