//! One meaning: random documents have the same `data`, byte for byte, whichever way they are answered.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

/// How hot a day was.
#[svc_enum]
#[derive(Debug, Clone, Copy)]
enum Heat {
    #[svc(stored = "hot")]
    Hot,
    #[svc(stored = "cold")]
    Cold,
}

#[svc_type]
struct Place {
    city: String,
    zip: Option<String>,
}

#[svc_type(sql_source = "v_day")]
struct Day {
    id: Uuid,
    label: Option<String>,
    heat: Heat,
    degrees: f64,
    total: i64,
    exact: Decimal,
    at: DateTime<Utc>,
    place: Place,
    #[relation]
    hours: Many<Hour>,
    #[relation(from = "next_id")]
    next: Option<One<Day>>,
}

#[svc_type(sql_source = "v_hour")]
struct Hour {
    id: i32,
    note: Option<String>,
    #[relation]
    day: One<Day>,
}

/// Fields without a body.
mod planned {
    use super::*;

    #[svc::query]
    pub(super) async fn days() -> Vec<Day>;
    #[svc::query]
    pub(super) async fn hours() -> Vec<Hour>;
}

/// Resolvers that return the query.
mod returned {
    use super::*;

    #[svc::query]
    pub(super) async fn days(
        ctx: &Context<'_>,
        r#where: Option<Where<Day>>,
        order_by: Option<OrderBy<Day>>,
        page: Page,
    ) -> Result<Find<Day>> {
        Ok(ctx.db().find::<Day>().matching(r#where).ordered(order_by).page(page))
    }
    #[svc::query]
    pub(super) async fn hours(
        ctx: &Context<'_>,
        r#where: Option<Where<Hour>>,
        order_by: Option<OrderBy<Hour>>,
        page: Page,
    ) -> Result<Find<Hour>> {
        Ok(ctx.db().find::<Hour>().matching(r#where).ordered(order_by).page(page))
    }
}

/// Resolvers that return values, whose relations start from the values.
mod awaited {
    use super::*;

    #[svc::query]
    pub(super) async fn days(
        ctx: &Context<'_>,
        r#where: Option<Where<Day>>,
        order_by: Option<OrderBy<Day>>,
        page: Page,
    ) -> Result<Vec<Day>> {
        ctx.db().find::<Day>().matching(r#where).ordered(order_by).page(page).await
    }
    #[svc::query]
    pub(super) async fn hours(
        ctx: &Context<'_>,
        r#where: Option<Where<Hour>>,
        order_by: Option<OrderBy<Hour>>,
        page: Page,
    ) -> Result<Vec<Hour>> {
        ctx.db().find::<Hour>().matching(r#where).ordered(order_by).page(page).await
    }
}

const SQL: &str = r#"
CREATE TABLE tb_day AS SELECT md5(n::text)::uuid AS id, CASE WHEN n % 3 > 0 THEN 'day "' || n || E'"\n\\ü' END AS label,
  CASE WHEN n % 2 = 0 THEN 'hot' ELSE 'cold' END AS heat, n * 1.5e10::float8 / 7 AS degrees, 9007199254740990 + n AS total,
  n * 0.10 AS exact, '2024-02-29T23:59:59.5Z'::timestamptz + n * interval '1 day 1 us' AS at,
  CASE WHEN n < 9 THEN md5((n + 1)::text)::uuid END AS next_id FROM generate_series(1, 9) n;
CREATE TABLE tb_hour AS SELECT n AS id, CASE WHEN n % 4 > 0 THEN 'note ' || n END AS note, md5((n % 9 + 1)::text)::uuid AS day_id
  FROM generate_series(1, 15) n;
-- A column for some fields, the rest in `data`.
CREATE VIEW v_day AS SELECT id, label, heat, degrees, at, next_id, jsonb_build_object('total', total, 'exact', exact,
  'place', jsonb_build_object('city', 'city ' || total % 3, 'zip', nullif(total % 4, 1)::text)) AS data FROM tb_day;
CREATE VIEW v_hour AS SELECT to_jsonb(h) AS data FROM tb_hour h;
"#;

/// Random documents, and how many aliases they have: each is another, so that fields which merge have none that clash.
struct Generator(StdRng, usize);

impl Generator {
    fn document(&mut self) -> String {
        let roots = (0..self.0.random_range(1..3)).map(|index| {
            let (name, fields) = if self.0.random_bool(0.6) { ("days", self.day(3)) } else { ("hours", self.hour(3)) };
            format!("r{index}: {name}{} {fields}", self.arguments(name))
        });
        let roots: Vec<_> = roots.collect();
        format!("query ($yes: Boolean! = true) {{ always: __typename @include(if: $yes) {} }}", roots.join(" "))
    }

    fn arguments(&mut self, of: &str) -> String {
        let conditions: &[&str] = if of == "hours" {
            &["where: {note: {isnull: true}}", "where: {id: {gt: 4, lte: 12}}", "where: {day: {heat: {eq: HOT}}}"]
        } else {
            &[
                "where: {heat: {eq: HOT}}",
                "where: {OR: [{label: {contains: \"\\\"\"}}, {exact: {lt: \"0.3\"}}]}",
                "where: {place: {city: {neq: \"city 1\"}}}",
                "where: {hours: {some: {id: {gt: 9}}}}",
            ]
        };
        let orders: &[&str] = if of == "hours" {
            &["orderBy: [{note: DESC}]"]
        } else {
            &["orderBy: [{degrees: DESC}]", "orderBy: [{label: ASC}, {total: DESC}]"]
        };
        let mut given = Vec::new();
        given.extend(conditions.choose(&mut self.0).filter(|_| self.0.random_bool(0.4)).copied().map(str::to_owned));
        given.extend(orders.choose(&mut self.0).filter(|_| self.0.random_bool(0.5)).copied().map(str::to_owned));
        if self.0.random_bool(0.4) {
            given.push(format!("limit: {}, offset: {}", self.0.random_range(0..6), self.0.random_range(0..3)));
        }
        if given.is_empty() { String::new() } else { format!("({})", given.join(", ")) }
    }

    fn day(&mut self, depth: usize) -> String {
        let leaves = ["id", "label", "heat", "degrees", "total", "exact", "at", "__typename", "place { zip city }"];
        self.selection("Day", &leaves, depth, |generator, depth| match generator.0.random_range(0..2) {
            0 => format!("hours{} {}", generator.arguments("hours"), generator.hour(depth)),
            _ => format!("next {}", generator.day(depth)),
        })
    }

    fn hour(&mut self, depth: usize) -> String {
        self.selection("Hour", &["id", "note", "__typename"], depth, |generator, depth| {
            format!("day {}", generator.day(depth))
        })
    }

    fn selection(
        &mut self,
        ty: &str,
        leaves: &[&str],
        depth: usize,
        related: impl Fn(&mut Self, usize) -> String,
    ) -> String {
        let mut fields = vec![(*leaves.choose(&mut self.0).unwrap()).to_owned()];
        for _ in 0..self.0.random_range(1..5) {
            let field = if depth > 0 && self.0.random_bool(0.4) {
                related(self, depth - 1)
            } else {
                (*leaves.choose(&mut self.0).unwrap()).to_owned()
            };
            self.1 += 1;
            let index = self.1;
            fields.push(match self.0.random_range(0..6) {
                0 => format!("f{index}: {field} "),
                1 => format!("... on {ty} {{ g{index}: {field} }}"),
                2 => format!("... @include(if: $yes) {{ h{index}: {field} }}"),
                3 => format!("... @skip(if: $yes) {{ i{index}: {field} }}"),
                // Without an alias, so that equal fields merge where their arguments are the same.
                _ if !field.contains('(') => field,
                _ => format!("j{index}: {field}"),
            });
        }
        format!("{{ {} }}", fields.join(" "))
    }
}

async fn send(app: &App, path: &str, body: Value) -> String {
    let request = app.request("POST", path).header("content-type", "application/json").body(body.to_string());
    app.send(request).await.text
}

#[tokio::test]
async fn every_way_gives_the_same_bytes() {
    let seed = std::env::var("EQUIVALENCE_SEED").map_or(11, |seed| seed.parse().unwrap());
    let mut generator = Generator(StdRng::seed_from_u64(seed), 0);
    let database = TestDatabase::new(SQL).await;
    let options = || {
        let config = SvcConfig { enable_rust_endpoint: true, auto_camel_case: true, ..SvcConfig::default() };
        let limits = svc::Limits { complexity: 1_000_000, aliases: 1_000, ..svc::Limits::default() };
        AppOptions::new().config(config).limits(limits).database_url(database.url())
    };
    let planned = App::serve(options().queries(queries![planned::days, planned::hours])).await;
    let returned = App::serve(options().queries(queries![returned::days, returned::hours])).await;
    let awaited = App::serve(options().queries(queries![awaited::days, awaited::hours])).await;
    for round in 0..300 {
        let query = generator.document();
        let body = json!({ "query": query });
        let expected = send(&planned, "/graphql", body.clone()).await;
        assert!(expected.starts_with("{\"data\":"), "seed {seed}, round {round}: {query}\n{expected}");
        let hash = hex::encode(Sha256::digest(&query));
        let persisted = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
        send(&planned, "/graphql", json!({ "query": query, "extensions": persisted })).await;
        for (way, answer) in [
            ("/graphql/rust", send(&planned, "/graphql/rust", body.clone()).await),
            ("a persisted query", send(&planned, "/graphql", json!({ "extensions": persisted })).await),
            ("a resolver that returns the query", send(&returned, "/graphql", body.clone()).await),
            ("a resolver that returns values", send(&awaited, "/graphql", body).await),
        ] {
            assert_eq!(answer, expected, "{way}, seed {seed}, round {round}: {query}");
        }
    }
}
