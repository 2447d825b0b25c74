//! Random policies over random rows leave the rows that a plain evaluation leaves, neither more nor
//! less, on all three kinds of views.
//!
//! `ROW_POLICY_SEED=7` tries others than every run, and `ROW_POLICIES=20000` as many as it says.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value as Json, json};
use svc::authz::RowDecision;
use svc_tests::{App, cases, seed};

use super::evaluator::{Decision, Row, Rows, Value, is_read, value};
use super::service::{KINDS, SharedPolicy, database, governed};

/// The seed of every run.
const SEED: u64 = 2_026;
/// Policies for each kind of views.
const POLICIES: u64 = 150;
/// Policies of the long suite.
const LONG: u64 = 4_000;
const POSTS: usize = 40;
const USERS: usize = 6;

pub(super) fn rows(rng: &mut StdRng) -> Rows {
    let fields = |names: &[&'static str], rng: &mut StdRng| {
        names.iter().map(|name| (*name, value(name, rng))).collect()
    };
    let mut rows = Rows::default();
    for id in 1..=USERS {
        rows.users.push(Row {
            id: id as i32,
            fields: fields(&["name", "tenant"], rng),
            related: Vec::new(),
        });
    }
    for at in 0..POSTS {
        let author = rng.random_range(0..USERS + 1);
        let related = if author < USERS {
            vec![author]
        } else {
            Vec::new()
        };
        related
            .iter()
            .for_each(|author| rows.users[*author].related.push(at));
        let fields = fields(&["title", "tenant", "score", "locked"], rng);
        rows.posts.push(Row {
            id: at as i32 + 1,
            fields,
            related,
        });
    }
    rows
}

fn literal(value: &Value) -> String {
    match value {
        Value::Text(Some(text)) => format!("'{text}'"),
        Value::Number(Some(number)) => number.to_string(),
        Value::Flag(Some(flag)) => flag.to_string(),
        _ => "NULL".to_owned(),
    }
}

pub(super) fn sql(rows: &Rows) -> String {
    let mut sql = String::new();
    for row in &rows.users {
        let values: Vec<_> = row.fields.iter().map(|(_, value)| literal(value)).collect();
        writeln!(
            sql,
            "INSERT INTO tb_user VALUES ({}, {});",
            row.id,
            values.join(", ")
        )
        .unwrap();
    }
    for row in &rows.posts {
        let values: Vec<_> = row.fields.iter().map(|(_, value)| literal(value)).collect();
        let author = row
            .related
            .first()
            .map_or_else(|| "NULL".to_owned(), |author| (author + 1).to_string());
        writeln!(
            sql,
            "INSERT INTO tb_post VALUES ({}, {}, {author});",
            row.id,
            values.join(", ")
        )
        .unwrap();
    }
    sql
}

/// Three policies, each of which decides as it is told at its place.
pub(super) fn policies(decisions: &Arc<Mutex<Vec<Decision>>>) -> Vec<SharedPolicy> {
    let policy = |at: usize| -> SharedPolicy {
        let decisions = decisions.clone();
        Arc::new(move |_| {
            let decisions = decisions.lock().unwrap();
            Ok(decisions
                .get(at)
                .map_or_else(RowDecision::abstain, Decision::decision))
        })
    };
    (0..3).map(policy).collect()
}

const READ: &str = "{ posts(orderBy: [{id: ASC}]) { id } totals { count } some: posts(where: {id: {lte: 20}}, orderBy: [{id: DESC}]) { id }
    users(where: {posts: {some: {id: {gt: 10}}}}, orderBy: [{id: ASC}]) { posts(orderBy: [{id: ASC}]) { id } } }";

/// The answer to what is read, of the rows that a plain evaluation leaves.
fn expected(decisions: &[Decision], rows: &Rows) -> Json {
    let read: Vec<i32> = rows
        .posts
        .iter()
        .filter(|row| is_read(decisions, rows, row))
        .map(|row| row.id)
        .collect();
    let posts = |ids: &[i32]| ids.iter().map(|id| json!({ "id": id })).collect::<Vec<_>>();
    let mut some: Vec<i32> = read.iter().copied().filter(|id| *id <= 20).collect();
    some.reverse();
    let users = rows.users.iter().filter_map(|user| {
        let own: Vec<i32> = user
            .related
            .iter()
            .map(|at| *at as i32 + 1)
            .filter(|id| read.contains(id))
            .collect();
        own.iter()
            .any(|id| *id > 10)
            .then(|| json!({ "posts": posts(&own) }))
    });
    json!({ "posts": posts(&read), "totals": { "count": read.len() }, "some": posts(&some),
        "users": users.collect::<Vec<_>>() })
}

#[tokio::test(flavor = "multi_thread")]
async fn random_policies_match_a_plain_evaluation() {
    let seed = seed("ROW_POLICY_SEED", SEED);
    let count = usize::try_from(cases("ROW_POLICIES", POLICIES, LONG)).unwrap();
    let mut rng = StdRng::seed_from_u64(seed);
    let rows = rows(&mut rng);
    let database = database(&sql(&rows)).await.uncounted().await;
    let all: Vec<Vec<Decision>> = (0..count)
        .map(|_| {
            (0..rng.random_range(1..=3))
                .map(|_| Decision::random(&mut rng))
                .collect()
        })
        .collect();
    let (mut wrong, mut read) = (String::new(), 0);
    for kind in KINDS {
        let current = Arc::new(Mutex::new(Vec::new()));
        let app = App::serve(governed(kind, &database, &policies(&current))).await;
        for decisions in &all {
            current.lock().unwrap().clone_from(decisions);
            let (answer, expected) = (app.query(READ).await.json(), expected(decisions, &rows));
            read += expected["posts"].as_array().unwrap().len();
            if answer != json!({ "data": expected }) && wrong.len() < 4_000 {
                writeln!(wrong, "{kind} {decisions:?}\n  {answer}\n  {expected}").unwrap();
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "seed {seed}: some policies leave other rows:\n{wrong}"
    );
    let asked = count * KINDS.len() * POSTS;
    assert!(
        read > asked / 20 && read < asked * 19 / 20,
        "the policies hardly tell rows apart: {read} of {asked}"
    );
}
