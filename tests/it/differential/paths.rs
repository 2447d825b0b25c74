//! One meaning: random documents have the same `data`, byte for byte, whichever way they are
//! answered.

use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use svc::prelude::*;
use svc::{Operation, OperationRegistry};
use svc_tests::{App, TestDatabase};

/// The heat of a day.
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
    /// More digits than a double has.
    rent: Decimal,
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
    /// In years of more than four digits, or before the first.
    far: DateTime<Utc>,
    founded: NaiveDate,
    notes: Option<Box<RawValue>>,
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
        Ok(ctx
            .db()
            .find::<Day>()
            .apply_where(r#where)
            .apply_order_by(order_by)
            .page(page))
    }
    #[svc::query]
    pub(super) async fn hours(
        ctx: &Context<'_>,
        r#where: Option<Where<Hour>>,
        order_by: Option<OrderBy<Hour>>,
        page: Page,
    ) -> Result<Find<Hour>> {
        Ok(ctx
            .db()
            .find::<Hour>()
            .apply_where(r#where)
            .apply_order_by(order_by)
            .page(page))
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
        ctx.db()
            .find::<Day>()
            .apply_where(r#where)
            .apply_order_by(order_by)
            .page(page)
            .await
    }
    #[svc::query]
    pub(super) async fn hours(
        ctx: &Context<'_>,
        r#where: Option<Where<Hour>>,
        order_by: Option<OrderBy<Hour>>,
        page: Page,
    ) -> Result<Vec<Hour>> {
        ctx.db()
            .find::<Hour>()
            .apply_where(r#where)
            .apply_order_by(order_by)
            .page(page)
            .await
    }
}

/// Functions that must not run.
mod failing {
    use super::*;

    #[svc::query]
    pub(super) async fn days(
        r#where: Option<Where<Day>>,
        order_by: Option<OrderBy<Day>>,
        page: Page,
    ) -> Result<Vec<Day>> {
        let _ = (r#where, order_by, page);
        Err(Error::internal("this must not run"))
    }
    #[svc::query]
    pub(super) async fn hours(
        r#where: Option<Where<Hour>>,
        order_by: Option<OrderBy<Hour>>,
        page: Page,
    ) -> Result<Vec<Hour>> {
        let _ = (r#where, order_by, page);
        Err(Error::internal("this must not run"))
    }
}

const SQL: &str = r#"
CREATE TABLE tb_day AS SELECT md5(n::text)::uuid AS id, CASE WHEN n % 3 > 0 THEN 'day "' || n || E'"\n\\ü' END AS label,
  CASE WHEN n % 2 = 0 THEN 'hot' ELSE 'cold' END AS heat, n * 1.5e10::float8 / 7 AS degrees, 9007199254740990 + n AS total,
  n * 0.10 AS exact, '2024-02-29T23:59:59.5Z'::timestamptz + n * interval '1 day 1 us' AS at,
  ('2024-02-29T23:59:59.25Z'::timestamptz + (ARRAY[-3000, 0, 18000])[n % 3 + 1] * interval '1 year') AT TIME ZONE 'UTC' AS far,
  '0002-06-01'::date + (n - 5) * 400 AS founded,
  CASE WHEN n < 9 THEN md5((n + 1)::text)::uuid END AS next_id FROM generate_series(1, 9) n;
CREATE TABLE tb_hour AS SELECT n AS id, CASE WHEN n % 4 > 0 THEN 'note ' || n END AS note, md5((n % 9 + 1)::text)::uuid AS day_id
  FROM generate_series(1, 15) n;
-- A column for some fields, the rest in `data`.
CREATE VIEW v_day AS SELECT id, label, heat, degrees, at, next_id, far, jsonb_build_object('total', total, 'exact', exact,
  'founded', founded, 'notes', format('{"fine": 0.1234567890123456789%s, "huge": 1e400, "n": [1.50, "ü\""]}', total)::jsonb,
  'place', jsonb_build_object('city', 'city ' || total % 3, 'zip', nullif(total % 4, 1)::text,
    'rent', exact * 0.1234567890123456789012345)) AS data FROM tb_day;
CREATE VIEW v_hour AS SELECT to_jsonb(h) AS data FROM tb_hour h;
-- Without statistics PostgreSQL takes the tables for large ones, and compiles each statement.
ANALYZE tb_day, tb_hour;
"#;

/// Random documents, and SQL that answers them. Each alias is another, so that fields which merge
/// have none that clash.
struct Generator {
    random: StdRng,
    aliases: usize,
    /// The number of rows that have a name in the SQL.
    rows: usize,
    /// Whether two selections merge, for which the SQL would have to merge as well.
    merges: bool,
}

/// A piece of a document, and the SQL of its JSON.
struct Piece {
    text: String,
    sql: String,
}

/// The arguments of a list: their text, and the SQL behind `WHERE`.
type Arguments = (String, String);

impl Generator {
    /// A document, and SQL that answers it where that can be written.
    fn document(&mut self) -> (String, Option<String>) {
        self.merges = false;
        let roots: Vec<_> = (0..self.random.random_range(1..3))
            .map(|_| {
                let of = if self.random.random_bool(0.6) {
                    "days"
                } else {
                    "hours"
                };
                self.list(of, 3, "true")
            })
            .collect();
        let join = |piece: &dyn Fn(usize, &Piece) -> String, between| {
            let pieces: Vec<_> = roots
                .iter()
                .enumerate()
                .map(|(index, root)| piece(index, root))
                .collect();
            pieces.join(between)
        };
        let fields = join(&|index, root| format!("r{index}: {}", root.text), " ");
        let columns = join(&|index, root| format!("{} AS r{index}", root.sql), ", ");
        let document = format!(
            "query ($yes: Boolean! = true) {{ always: __typename @include(if: $yes) {fields} }}"
        );
        (
            document,
            (!self.merges).then(|| format!("SELECT {columns}")),
        )
    }

    /// A list of days or hours that `join` holds for.
    fn list(&mut self, of: &'static str, depth: usize, join: &str) -> Piece {
        let row = self.row();
        let (arguments, clauses) = self.arguments(of);
        let fields = if of == "days" {
            self.day(&row, depth)
        } else {
            self.hour(&row, depth)
        };
        let view = if of == "days" { "v_day" } else { "v_hour" };
        let rows = format!(
            "SELECT {} AS j FROM {view} AS {row} WHERE {join} AND {clauses}",
            fields.sql
        );
        Piece {
            text: format!("{of}{arguments} {}", fields.text),
            sql: format!(
                "(SELECT coalesce(jsonb_agg(s.j), '[]') FROM ({}) AS s)",
                rows.replace("$row", &row)
            ),
        }
    }

    fn row(&mut self) -> String {
        self.rows += 1;
        format!("t{}", self.rows)
    }

    fn arguments(&mut self, of: &str) -> Arguments {
        let conditions: &[(&str, &str)] = if of == "hours" {
            &[
                (
                    "where: {note: {isnull: true}}",
                    "$row.data->>'note' IS NULL",
                ),
                (
                    "where: {id: {gt: 4, lte: 12}}",
                    "($row.data->>'id')::int BETWEEN 5 AND 12",
                ),
                (
                    "where: {day: {heat: {eq: HOT}}}",
                    "($row.data->>'day_id')::uuid IN (SELECT id FROM v_day WHERE heat = 'hot')",
                ),
            ]
        } else {
            &[
                ("where: {heat: {eq: HOT}}", "$row.heat = 'hot'"),
                (
                    "where: {OR: [{label: {contains: \"\\\"\"}}, {exact: {lt: \"0.3\"}}]}",
                    "($row.label LIKE '%\"%' OR ($row.data->>'exact')::numeric < 0.3)",
                ),
                (
                    "where: {place: {city: {neq: \"city 1\"}}}",
                    "$row.data->'place'->>'city' <> 'city 1'",
                ),
                (
                    "where: {hours: {some: {id: {gt: 9}}}}",
                    "$row.id IN (SELECT (data->>'day_id')::uuid FROM v_hour WHERE (data->>'id')::int > 9)",
                ),
            ]
        };
        let id = if of == "hours" {
            "($row.data->>'id')::int"
        } else {
            "$row.id"
        };
        let orders: &[(&str, &str)] = if of == "hours" {
            &[(
                "orderBy: [{note: DESC}]",
                "$row.data->>'note' DESC, ($row.data->>'id')::int DESC",
            )]
        } else {
            &[
                (
                    "orderBy: [{degrees: DESC}]",
                    "$row.degrees DESC, $row.id DESC",
                ),
                (
                    "orderBy: [{label: ASC}, {total: DESC}]",
                    "$row.label, ($row.data->>'total')::bigint DESC, $row.id DESC",
                ),
            ]
        };
        let mut given = Vec::new();
        let mut choose = |among: &[(&'static str, &'static str)], often| {
            let chosen = among.choose(&mut self.random).copied();
            let chosen = chosen.filter(|_| self.random.random_bool(often))?;
            given.push(chosen.0.to_owned());
            Some(chosen.1)
        };
        let condition = choose(conditions, 0.4).unwrap_or("true");
        let order = choose(orders, 0.5).unwrap_or(id);
        let mut sql = format!("{condition} ORDER BY {order}");
        if self.random.random_bool(0.4) {
            let (limit, offset) = (
                self.random.random_range(0..6),
                self.random.random_range(0..3),
            );
            given.push(format!("limit: {limit}, offset: {offset}"));
            sql.push_str(&format!(" LIMIT {limit} OFFSET {offset}"));
        }
        (
            if given.is_empty() {
                String::new()
            } else {
                format!("({})", given.join(", "))
            },
            sql,
        )
    }

    fn day(&mut self, row: &str, depth: usize) -> Piece {
        let leaves = [
            "id",
            "label",
            "heat",
            "degrees",
            "total",
            "exact",
            "at",
            "far",
            "founded",
            "notes",
            "__typename",
            "place { zip city rent }",
        ];
        // A `timestamp` has no offset in JSON.
        let stored = format!(
            "(to_jsonb({row}) || jsonb_build_object('far', {row}.far AT TIME ZONE 'UTC') || {row}.data)"
        );
        self.selection(
            "Day",
            &leaves,
            &stored,
            depth,
            |generator, depth| match generator.random.random_range(0..2) {
                0 => (
                    "hours",
                    generator.list(
                        "hours",
                        depth,
                        &format!("($row.data->>'day_id')::uuid = {row}.id"),
                    ),
                ),
                _ => ("next", generator.one_day(&format!("{row}.next_id"), depth)),
            },
        )
    }

    fn hour(&mut self, row: &str, depth: usize) -> Piece {
        let stored = format!("{row}.data");
        self.selection(
            "Hour",
            &["id", "note", "__typename"],
            &stored,
            depth,
            |generator, depth| {
                (
                    "day",
                    generator.one_day(&format!("({row}.data->>'day_id')::uuid"), depth),
                )
            },
        )
    }

    /// The day with this id, without the name of its field.
    fn one_day(&mut self, id: &str, depth: usize) -> Piece {
        let row = self.row();
        let day = self.day(&row, depth);
        Piece {
            text: day.text,
            sql: format!(
                "(SELECT {} FROM v_day AS {row} WHERE {row}.id = {id})",
                day.sql
            ),
        }
    }

    fn selection(
        &mut self,
        ty: &str,
        leaves: &[&str],
        stored: &str,
        depth: usize,
        related: impl Fn(&mut Self, usize) -> (&'static str, Piece),
    ) -> Piece {
        let mut fields = vec![(*leaves.choose(&mut self.random).unwrap()).to_owned()];
        let mut pieces: Vec<(String, String)> = Vec::new();
        for _ in 0..self.random.random_range(1..5) {
            let (field, related) = if depth > 0 && self.random.random_bool(0.4) {
                let (name, piece) = related(self, depth - 1);
                let text = if name == "hours" {
                    piece.text
                } else {
                    format!("{name} {}", piece.text)
                };
                (text, Some((name, piece.sql)))
            } else {
                ((*leaves.choose(&mut self.random).unwrap()).to_owned(), None)
            };
            self.aliases += 1;
            let index = self.aliases;
            let (prefix, text) = match self.random.random_range(0..6) {
                0 => ("f", format!("f{index}: {field} ")),
                1 => ("g", format!("... on {ty} {{ g{index}: {field} }}")),
                2 => (
                    "h",
                    format!("... @include(if: $yes) {{ h{index}: {field} }}"),
                ),
                3 => ("i", format!("... @skip(if: $yes) {{ i{index}: {field} }}")),
                // Without an alias, so that equal fields merge where their arguments are the same.
                _ if !field.contains('(') => ("", field),
                _ => ("j", format!("j{index}: {field}")),
            };
            fields.push(text);
            if let Some((name, sql)) = related {
                let key = if prefix.is_empty() {
                    name.to_owned()
                } else {
                    format!("{prefix}{index}")
                };
                self.merges |= pieces.iter().any(|(other, _)| *other == key);
                pieces.push((key, sql));
            }
        }
        let pieces: Vec<_> = pieces
            .iter()
            .map(|(key, sql)| format!(" || jsonb_build_object('{key}', {sql})"))
            .collect();
        Piece {
            text: format!("{{ {} }}", fields.join(" ")),
            sql: format!("{stored}{}", pieces.concat()),
        }
    }
}

async fn send(app: &App, path: &str, body: Value) -> String {
    let request = app
        .request("POST", path)
        .header("content-type", "application/json")
        .body(body.to_string());
    app.send(request).await.text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_way_gives_the_same_bytes() {
    let seed = std::env::var("EQUIVALENCE_SEED").map_or(11, |seed| seed.parse().unwrap());
    let random = StdRng::seed_from_u64(seed);
    let mut generator = Generator {
        random,
        aliases: 0,
        rows: 0,
        merges: false,
    };
    let database = TestDatabase::new(SQL).await.uncounted().await;
    let options = || {
        let config = SvcConfig {
            operations: svc::OperationsConfig {
                rust_endpoint: true,
                ..svc::OperationsConfig::default()
            },
            schema: svc::SchemaConfig {
                auto_camel_case: true,
                ..svc::SchemaConfig::default()
            },
            ..SvcConfig::default()
        };
        let limits = svc::Limits {
            complexity: 1_000_000,
            aliases: 1_000,
            comparisons: 1_000,
            ..svc::Limits::default()
        };
        AppOptions::new()
            .config(config)
            .limits(limits)
            .database_url(database.url())
    };
    let planned = App::serve(options().queries(queries![planned::days, planned::hours])).await;
    let returned = App::serve(options().queries(queries![returned::days, returned::hours])).await;
    let awaited = App::serve(options().queries(queries![awaited::days, awaited::hours])).await;
    let registry = OperationRegistry::new();
    let only = options()
        .queries(queries![planned::days, planned::hours])
        .registered_only(true);
    let registered = App::serve(only.operation_registry(registry.clone())).await;
    let with_sql = OperationRegistry::new();
    let failing = options().queries(queries![failing::days, failing::hours]);
    let cached = App::serve(failing.operation_registry(with_sql.clone())).await;
    let mut answered_by_sql = 0;
    for round in 0..300 {
        let (query, sql) = generator.document();
        let body = json!({ "query": query });
        let expected = send(&planned, "/graphql", body.clone()).await;
        assert!(
            expected.starts_with("{\"data\":"),
            "seed {seed}, round {round}: {query}\n{expected}"
        );
        let hash = hex::encode(Sha256::digest(&query));
        let persisted = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
        send(
            &planned,
            "/graphql",
            json!({ "query": query, "extensions": persisted }),
        )
        .await;
        registry.register(Operation::new(&query)).unwrap();
        if let Some(sql) = sql {
            with_sql.register(Operation::new(&query).sql(&sql)).unwrap();
            let answer = send(
                &cached,
                "/graphql",
                json!({ "documentId": format!("sha256:{hash}") }),
            )
            .await;
            assert_eq!(
                answer, expected,
                "cached SQL, seed {seed}, round {round}: {query}\n{sql}"
            );
            answered_by_sql += 1;
        }
        let by_hash = json!({ "extensions": persisted });
        let ways = [
            ("/graphql/rust", &planned, "/graphql/rust", &body),
            ("a persisted query", &planned, "/graphql", &by_hash),
            ("a registered operation", &registered, "/graphql", &by_hash),
            (
                "a resolver that returns the query",
                &returned,
                "/graphql",
                &body,
            ),
            (
                "a resolver that returns values",
                &awaited,
                "/graphql",
                &body,
            ),
        ];
        let answers =
            ways.map(
                |(way, app, path, body)| async move { (way, send(app, path, body.clone()).await) },
            );
        for (way, answer) in join_all(answers).await {
            assert_eq!(
                answer, expected,
                "{way}, seed {seed}, round {round}: {query}"
            );
        }
    }
    assert!(
        answered_by_sql > 200,
        "SQL was written for {answered_by_sql} of 300 documents"
    );
}
