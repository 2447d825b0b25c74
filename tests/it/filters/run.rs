//! Random filters over random rows find what a plain evaluation finds, on all three kinds of views.
//!
//! `FILTERS_SEED=7` tries other rows and filters than those of every run.

use std::fmt::Write as _;

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use svc::Limits;
use svc_tests::{App, TestDatabase};

use super::evaluator::matches;
use super::fields::ROW;
use super::generator::{condition, filter, operators};
use super::rows::rows;
use super::shrink::smaller;
use super::types::{FILL, ROOTS, SQL, options};

/// The seed of every run.
const SEED: u64 = 2_026;
const ROWS: usize = 60;
/// Filters of any shape, besides some for each operator of each field.
const FILTERS: usize = 900;
const OF_EACH_OPERATOR: usize = 2;
/// Filters in one request.
const AT_ONCE: usize = 50;

#[tokio::test(flavor = "multi_thread")]
async fn random_filters_match_a_plain_evaluation() {
    let seed = std::env::var("FILTERS_SEED")
        .map_or(SEED, |seed| seed.parse().expect("FILTERS_SEED is a number"));
    let mut rng = StdRng::seed_from_u64(seed);
    let (rows, stored) = rows(ROWS, &mut rng);
    let filters = filters(&mut rng);
    assert!(
        filters.len() * ROOTS.len() >= 2_000,
        "only {} filters",
        filters.len()
    );
    let app = app(&stored).await;
    let mut wrong = String::new();
    let mut found = 0;
    for root in ROOTS {
        for group in filters.chunks(AT_ONCE) {
            for (filter, ids) in group.iter().zip(ask(&app, root, group).await) {
                let expected = expected(&rows, filter);
                found += expected.len();
                if ids.as_ref() != Ok(&expected) && wrong.len() < 4_000 {
                    let small = shrunk(&app, root, &rows, filter).await;
                    let _ = writeln!(
                        wrong,
                        "{}: {small}\n  {}",
                        root.0,
                        report(&app, root, &rows, &stored, &small).await
                    );
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "seed {seed}: some filters find other rows than they should:\n{wrong}"
    );
    let asked = filters.len() * ROOTS.len();
    assert!(
        found > asked * ROWS / 10 && found < asked * ROWS * 9 / 10,
        "the filters hardly tell rows apart"
    );
}

fn filters(rng: &mut StdRng) -> Vec<Value> {
    let mut filters = Vec::new();
    for field in ROW {
        let fewest = OF_EACH_OPERATOR * operators(field.1).len();
        filters.extend((0..fewest).map(|_| json!({ field.0: condition(field.1, 3, rng) })));
    }
    filters.extend((0..FILTERS).map(|_| filter(ROW, 3, rng)));
    filters
}

async fn app(stored: &[Value]) -> App {
    let database = TestDatabase::new(SQL).await.uncounted().await;
    let pool = database.pool().await;
    let insert = "INSERT INTO tb_raw SELECT jsonb_array_elements($1::jsonb)";
    svc::sqlx::query(insert)
        .bind(Value::from(stored).to_string())
        .execute(&pool)
        .await
        .unwrap();
    pool.close().await;
    database.execute(FILL).await;
    let limits = Limits {
        aliases: 1_000,
        root_fields: 1_000,
        complexity: u64::MAX,
        comparisons: u64::MAX,
        values: 1_000_000,
        ..Limits::default()
    };
    App::serve(options().database_url(database.url()).limits(limits)).await
}

fn expected(rows: &[Value], filter: &Value) -> Vec<usize> {
    (0..rows.len())
        .filter(|index| matches(ROW, &rows[*index], filter))
        .collect()
}

/// The ids that each filter finds, or its error.
async fn ask(
    app: &App,
    (root, row): (&str, &str),
    filters: &[Value],
) -> Vec<Result<Vec<usize>, String>> {
    let (mut head, mut body) = (String::new(), String::new());
    let mut variables = json!({});
    for (index, filter) in filters.iter().enumerate() {
        let _ = write!(head, "$w{index}: {row}Where ");
        let _ = write!(
            body,
            "a{index}: {root}(where: $w{index}, limit: {ROWS}, order_by: [{{id: ASC}}]) {{ id }} "
        );
        variables[format!("w{index}")] = filter.clone();
    }
    let reply = app
        .query_with(&format!("query ({head}) {{ {body} }}"), variables)
        .await
        .json();
    let errors = reply["errors"].as_array().cloned().unwrap_or_default();
    let answer = |index: usize| {
        let alias = format!("a{index}");
        let ids = reply["data"][&alias].as_array();
        let ids = ids.map(|rows| {
            rows.iter()
                .filter_map(|row| row["id"].as_u64()?.try_into().ok())
                .collect()
        });
        ids.ok_or_else(|| {
            let own = errors
                .iter()
                .find(|error| error["path"][0] == json!(alias))
                .or(errors.first());
            own.map(|error| error["message"].to_string())
                .unwrap_or_default()
        })
    };
    (0..filters.len()).map(answer).collect()
}

/// The smallest filter that still goes wrong, as far as leaving out parts shows.
async fn shrunk(app: &App, root: (&str, &str), rows: &[Value], filter: &Value) -> Value {
    let mut small = filter.clone();
    'again: for _ in 0..100 {
        for candidate in smaller(&small) {
            let found = ask(app, root, std::slice::from_ref(&candidate))
                .await
                .remove(0);
            if found.as_ref() != Ok(&expected(rows, &candidate)) {
                small = candidate;
                continue 'again;
            }
        }
        break;
    }
    small
}

/// The rows that it finds and should find, and a row about which the two differ.
async fn report(
    app: &App,
    root: (&str, &str),
    rows: &[Value],
    stored: &[Value],
    filter: &Value,
) -> String {
    let expected = expected(rows, filter);
    match ask(app, root, std::slice::from_ref(filter)).await.remove(0) {
        Err(message) => format!("fails: {message}"),
        Ok(found) => {
            let odd =
                (0..rows.len()).find(|index| expected.contains(index) != found.contains(index));
            let row = odd
                .map(|index| format!("{} as stored: {}", index, stored[index]))
                .unwrap_or_default();
            format!("finds {found:?} instead of {expected:?}; row {row}")
        }
    }
}
