//! Random requests for children, compared with a plain evaluation of the same rows.
//!
//! `CHILDREN_CASES=2000` runs 2,000 requests on each kind of views, `CHILDREN_SEED` others.

mod model;
mod request;

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use svc_tests::{App, TestDatabase, cases, seed};

use super::policies::governed;
use super::{KINDS, app, sql};
use model::World;
use request::Request;

/// Requests on the same rows.
const OF_ONE_WORLD: u64 = 100;

#[tokio::test]
async fn random_children_match_a_plain_evaluation() {
    let (cases, seed) = (cases("CHILDREN_CASES", 25, 1_000), seed("CHILDREN_SEED", 7));
    let mut rng = StdRng::seed_from_u64(seed);
    for world in 0..cases.div_ceil(OF_ONE_WORLD) {
        let rows = World::random(&mut rng);
        let database = TestDatabase::copy_of("children", &sql())
            .await
            .uncounted()
            .await;
        database.execute(&rows.sql()).await;
        let mut apps: Vec<(bool, App)> = Vec::new();
        for kind in KINDS {
            apps.push((
                false,
                app(&database, kind, |_, options| options).await.unwatched(),
            ));
            apps.push((true, app(&database, kind, governed).await.unwatched()));
        }
        for case in 0..OF_ONE_WORLD.min(cases - world * OF_ONE_WORLD) {
            let mut request = Request::random(&mut rng);
            for step in 0..2 {
                let mut cursors = Vec::new();
                for (is_governed, app) in &apps {
                    let visible = if *is_governed {
                        rows.with_few_stars()
                    } else {
                        rows.clone()
                    };
                    let reply = app.query(&request.text()).await;
                    let answer = &reply.json()["data"]["answer"];
                    let expected = request.expected(&visible);
                    assert_eq!(
                        normal(&without_cursors(answer)),
                        normal(&expected),
                        "world {world}, case {case}, step {step}, seed {seed}: {}\n{}",
                        request.text(),
                        reply.text
                    );
                    // Only rows that all see can be gone on from.
                    if *is_governed && cursors.is_empty() {
                        cursors = request::cursors(answer);
                    }
                }
                if !request.go_on(&mut rng, &cursors) {
                    break;
                }
            }
        }
    }
}

/// Numbers that are equal are the same, by twelve decimals: PostgreSQL rounds averages of whole
/// numbers as decimals.
fn normal(value: &Value) -> Value {
    match value {
        Value::Number(number) => {
            json!(number.as_f64().map(|number| (number * 1e12).round() / 1e12))
        }
        Value::Array(items) => items.iter().map(normal).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), normal(value)))
            .collect(),
        other => other.clone(),
    }
}

fn without_cursors(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_cursors).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| *name != "cursor");
            kept.map(|(name, value)| (name.clone(), without_cursors(value)))
                .collect()
        }
        other => other.clone(),
    }
}
