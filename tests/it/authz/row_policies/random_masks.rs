//! Random masks over random rows leave the values that a plain evaluation leaves, on all three
//! kinds of views.
//!
//! `ROW_POLICY_SEED=7` tries others than every run, and `ROW_MASKS=20000` as many as it says.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value as Json, json};
use svc_tests::{App, cases, seed};

use super::evaluator::{Decision, Rows, Value, is_read};
use super::random::{policies, rows, sql};
use super::service::{KINDS, database, masked_by};

/// The seed of every run.
const SEED: u64 = 2_027;
/// Masks for each kind of views.
const MASKS: u64 = 60;
/// Masks of the long suite.
const LONG: u64 = 2_000;

const READ: &str = "{ posts(orderBy: [{id: ASC}]) { id title score }
    high: posts(where: {score: {gte: 2}}, orderBy: [{score: DESC}, {id: ASC}]) { id }
    none: posts(where: {OR: [{title: {isnull: true}}, {NOT: {score: {lt: 9}}}]}, orderBy: [{id: ASC}]) { id }
    by: posts(orderBy: [{title: ASC}, {id: ASC}]) { id }
    totals { sum { score } max { title score } groups(by: [TITLE], orderBy: [{key: {title: ASC}}]) { key { title } count }
        countDistinct { title score }
        kept: groups(by: [TITLE], having: {countDistinct: {score: {gt: 1}}}) { key { title } countDistinct { score } } }
    users(where: {posts: {some: {title: {eq: \"b\"}}}}, orderBy: [{id: ASC}]) { id } }";

/// A post as it is shown.
#[derive(Debug)]
struct Shown {
    id: i32,
    title: Option<&'static str>,
    score: Option<i32>,
}

fn shown(masks: &Masks, rows: &Rows) -> Vec<Shown> {
    let posts = rows.posts.iter().map(|row| {
        let stored = |name: &str| {
            row.fields
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value)
        };
        Shown {
            id: row.id,
            title: match stored("title") {
                Some(Value::Text(title)) if is_read(&masks.title, rows, row) => *title,
                _ => None,
            },
            score: match stored("score") {
                Some(Value::Number(score)) if is_read(&masks.score, rows, row) => *score,
                _ => None,
            },
        }
    });
    posts.collect()
}

/// The answer to what is read, of the values that a plain evaluation leaves.
fn expected(shown: &[Shown], rows: &Rows) -> Json {
    let ids = |posts: &[&Shown]| {
        posts
            .iter()
            .map(|post| json!({ "id": post.id }))
            .collect::<Vec<_>>()
    };
    let mut high: Vec<_> = shown.iter().filter(|post| post.score >= Some(2)).collect();
    high.sort_by_key(|post| -post.score.unwrap_or_default());
    let none: Vec<_> = shown
        .iter()
        .filter(|post| post.title.is_none() || post.score.is_none())
        .collect();
    let mut by: Vec<_> = shown.iter().collect();
    by.sort_by_key(|post| (post.title.is_none(), post.title));
    let mut groups: BTreeMap<_, Vec<Option<i32>>> = BTreeMap::new();
    by.iter().for_each(|post| {
        groups
            .entry((post.title.is_none(), post.title))
            .or_default()
            .push(post.score);
    });
    let distinct = |scores: &[Option<i32>]| scores.iter().flatten().collect::<BTreeSet<_>>().len();
    let kept = groups.iter().filter(|(_, scores)| distinct(scores) > 1).map(
        |((_, title), scores)| json!({ "key": { "title": title }, "countDistinct": { "score": distinct(scores) } }),
    );
    let titles = groups.keys().filter(|(is_null, _)| !is_null).count();
    let groups = groups
        .iter()
        .map(|((_, title), scores)| json!({ "key": { "title": title }, "count": scores.len() }));
    let scores = || shown.iter().filter_map(|post| post.score);
    let is_meant = |at: &usize| shown[*at].title == Some("b");
    let users = rows
        .users
        .iter()
        .filter(|user| user.related.iter().any(is_meant));
    json!({
        "posts": shown.iter().map(|post| json!({ "id": post.id, "title": post.title, "score": post.score })).collect::<Vec<_>>(),
        "high": ids(&high), "none": ids(&none), "by": ids(&by),
        "totals": {
            "sum": { "score": scores().next().map(|_| scores().sum::<i32>()) },
            "max": { "title": shown.iter().filter_map(|post| post.title).max(), "score": scores().max() },
            "groups": groups.collect::<Vec<_>>(),
            "countDistinct": { "title": titles, "score": scores().collect::<BTreeSet<_>>().len() },
            "kept": kept.collect::<Vec<_>>(),
        },
        "users": users.map(|user| json!({ "id": user.id })).collect::<Vec<_>>(),
    })
}

/// The decisions of the masks of both fields.
#[derive(Debug)]
struct Masks {
    title: Vec<Decision>,
    score: Vec<Decision>,
}

impl Masks {
    fn random(rng: &mut StdRng) -> Self {
        let decisions = |rng: &mut StdRng| {
            (0..rng.random_range(1..=3))
                .map(|_| Decision::random(rng))
                .collect()
        };
        Self {
            title: decisions(rng),
            score: decisions(rng),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn random_masks_match_a_plain_evaluation() {
    let seed = seed("ROW_POLICY_SEED", SEED);
    let mut rng = StdRng::seed_from_u64(seed);
    let rows = rows(&mut rng);
    let database = database(&sql(&rows)).await.uncounted().await;
    let all: Vec<_> = (0..cases("ROW_MASKS", MASKS, LONG))
        .map(|_| Masks::random(&mut rng))
        .collect();
    let (mut wrong, mut values) = (String::new(), 0);
    for kind in KINDS {
        let current = [
            Arc::new(Mutex::new(Vec::new())),
            Arc::new(Mutex::new(Vec::new())),
        ];
        let of = |field, at: usize| {
            policies(&current[at])
                .into_iter()
                .map(move |policy| (field, policy))
        };
        let masks: Vec<_> = of("title", 0).chain(of("score", 1)).collect();
        let app = App::serve(masked_by(kind, &database, &masks)).await;
        for masks in &all {
            current[0].lock().unwrap().clone_from(&masks.title);
            current[1].lock().unwrap().clone_from(&masks.score);
            let shown = shown(masks, &rows);
            values += shown.iter().filter(|post| post.title.is_some()).count();
            let (answer, expected) = (app.query(READ).await.json(), expected(&shown, &rows));
            if answer != json!({ "data": expected }) && wrong.len() < 4_000 {
                writeln!(wrong, "{kind} {masks:?}\n  {answer}\n  {expected}").unwrap();
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "seed {seed}: some masks leave other values:\n{wrong}"
    );
    let asked = all.len() * KINDS.len() * rows.posts.len();
    assert!(
        values > asked / 20 && values < asked * 19 / 20,
        "the masks hardly hide anything: {values} of {asked}"
    );
}
