//! Two databases that differ only in what is kept back (rows by policies, values by masks and
//! gates) send the same events to the same subscribers after the same writes, and take as many
//! statements for one who is alone.
//!
//! `ORACLE_SEED=7` writes others than every run, and `ORACLE_EVENTS=2000` as many as it says.

use std::collections::BTreeSet;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use serde_json::Value;
use sqlx::PgPool;
use svc::futures_util::future::join_all;
use svc::testing::{Subscribed, Subscription, TestService};
use svc_tests::{cases, eventually, seed};
use tokio::time::timeout;

use super::service::{KINDS, ROWS, database, guarded};

/// The seed of every run.
const SEED: u64 = 2_026;
/// The transactions of every run, on each kind of views: for one subscriber at a time, and again
/// for many.
const EVENTS: u64 = 15;
/// Events of the long suite.
const LONG: u64 = 400;
/// The transactions that the same subscribers hear of.
const HEARD: u64 = 8;
/// The mark of what is kept back.
const PLANTED: &str = "planted7f3a";
/// The time in which an event comes, beside other tests.
const PATIENCE: Duration = Duration::from_secs(120);

/// Rows of the tenant `c`, one of each tenant that ends every transaction, and what tells of
/// changes.
const WATCHED: &str = "
UPDATE tb_post SET tenant = 'c' WHERE tenant = 'a' AND id % 5 = 0;
UPDATE tb_user SET tenant = 'c' WHERE id = 6;
INSERT INTO tb_user VALUES (901, 'marker', 'a'), (902, 'marker', 'c');
INSERT INTO tb_post VALUES (901, 'marker', 'a', 5, false, 901), (902, 'marker', 'c', 5, false, 902);
CREATE TRIGGER post_changed AFTER INSERT OR UPDATE OR DELETE ON tb_post
    FOR EACH ROW EXECUTE FUNCTION svc_notify('post_changed', 'tenant', 'score', 'locked', 'author_id');
CREATE TRIGGER user_changed AFTER INSERT OR UPDATE OR DELETE ON tb_user
    FOR EACH ROW EXECUTE FUNCTION svc_notify('user_changed', 'tenant', 'email');";

/// Changes of all that neither `a` nor `c` sees.
const HIDDEN: &str = "
UPDATE tb_post SET title = 'hidden planted7f3a ' || id, score = 1000 + id WHERE tenant IS NULL OR tenant = 'b';
UPDATE tb_post SET score = 1000 + id WHERE tenant IN ('a', 'c') AND locked IS DISTINCT FROM false;
UPDATE tb_user SET name = 'hidden planted7f3a ' || id WHERE tenant IS NULL OR tenant = 'b';
UPDATE tb_user SET email = id || 'planted7f3a@example.org';
INSERT INTO tb_post SELECT 200 + n, 'post 1', 'b', n, NULL, n % 9 + 1 FROM generate_series(1, 30) n;";

/// Tables that stand for views, as the others see the same.
const TABLES: &str = "
DELETE FROM tv_user; INSERT INTO tv_user SELECT id, tenant, to_jsonb(t) FROM tb_user t;
DELETE FROM tv_post; INSERT INTO tv_post SELECT id, author_id, to_jsonb(t) FROM tb_post t;";

fn one<'a>(texts: &[&'a str], rng: &mut StdRng) -> &'a str {
    texts.choose(rng).expect("a text")
}

/// A write of a post. The second database keeps other values where nobody sees them.
fn post(id: i32, round: u64, rng: &mut StdRng) -> [String; 2] {
    if rng.random_ratio(1, 5) {
        let gone = format!("DELETE FROM tb_post WHERE id = {id};");
        return [gone.clone(), gone];
    }
    let tenant = one(&["'a'", "'a'", "'c'", "'b'", "NULL"], rng);
    let locked = one(&["true", "false", "false", "NULL"], rng);
    let author = one(&["1", "2", "3", "6", "9", "NULL"], rng);
    let score = rng.random_range(0..9);
    let write = |title: &str, score: i32| {
        format!(
            "INSERT INTO tb_post VALUES ({id}, '{title} {round}', {tenant}, {score}, {locked}, {author}) \
             ON CONFLICT (id) DO UPDATE SET (title, tenant, score, locked, author_id) = \
             (excluded.title, excluded.tenant, excluded.score, excluded.locked, excluded.author_id);"
        )
    };
    let is_hidden = matches!(tenant, "'b'" | "NULL");
    let title = if is_hidden { PLANTED } else { "post" };
    let kept_back = if is_hidden || locked != "false" {
        1_000 + score
    } else {
        score
    };
    [write("post", score), write(title, kept_back)]
}

/// A write of a user.
fn user(id: i32, round: u64, rng: &mut StdRng) -> [String; 2] {
    let tenant = one(&["'a'", "'c'", "'b'", "NULL"], rng);
    let write = |name: &str, email: &str| {
        format!(
            "UPDATE tb_user SET (name, tenant, email) = ('{name} {round}', {tenant}, '{email}') WHERE id = {id};"
        )
    };
    let name = if matches!(tenant, "'b'" | "NULL") {
        PLANTED
    } else {
        "user"
    };
    [write("user", "1@example.org"), write(name, PLANTED)]
}

/// A transaction for each database, in which each row is written once at most, and the rows
/// `markers` last, in their order.
fn writes(round: u64, markers: &[i32], rng: &mut StdRng) -> [String; 2] {
    let mut both = [String::new(), String::new()];
    let mut add = |writes: [String; 2]| {
        both.iter_mut()
            .zip(writes)
            .for_each(|(all, write)| all.push_str(&write));
    };
    let (posts, users) = (rng.random_range(0..4), rng.random_range(0..2));
    rand::seq::index::sample(rng, 45, posts)
        .into_iter()
        .for_each(|id| add(post(id as i32 + 1, round, rng)));
    rand::seq::index::sample(rng, 9, users)
        .into_iter()
        .for_each(|id| add(user(id as i32 + 1, round, rng)));
    // One by one, as one statement would write them in the order in which the table happens to hold
    // them.
    let mark = |table: &str, column: &str| -> String {
        let mark =
            |id: &i32| format!("UPDATE {table} SET {column} = 'marker {round}' WHERE id = {id};");
        markers.iter().map(mark).collect()
    };
    let markers = [
        mark("tb_post", "title"),
        mark("tb_user", "name"),
        TABLES.to_owned(),
    ]
    .concat();
    add([markers.clone(), markers]);
    both
}

/// Arguments that let the marker through.
fn arguments(candidates: &[&str], rng: &mut StdRng) -> String {
    let chosen: Vec<&str> = candidates
        .iter()
        .copied()
        .filter(|_| rng.random_ratio(1, 4))
        .collect();
    if chosen.is_empty() {
        String::new()
    } else {
        format!("({})", chosen.join(", "))
    }
}

/// A subscription, and its tenant.
#[derive(Debug)]
struct Wanted {
    document: String,
    tenant: &'static str,
}

impl Wanted {
    fn random(rng: &mut StdRng) -> Self {
        let post = one(
            &[
                "id title score",
                "id title loud tenant locked",
                "id title author { id name email }",
                "id title author { name posts(orderBy: [{score: ASC}, {id: ASC}], limit: 3) { id score } }",
                "id title loud score author { name }",
            ],
            rng,
        );
        let id = r"id: [1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 20, 901, 902]";
        let score = "score: [5, 6, 1005, 1006, 1007]";
        let (field, arguments, selection) = match rng.random_range(0..6) {
            0..=2 => {
                let author = "author: [1, 3, 6, 200, 901, 902]";
                let candidates = [
                    id,
                    score,
                    r#"tenant: ["a", "b", "c"]"#,
                    "locked: false",
                    author,
                ];
                ("changed", arguments(&candidates, rng), post)
            }
            3 => ("removable", arguments(&[id, score], rng), post),
            4 => {
                let user = one(
                    &[
                        "id name tenant",
                        "id name email",
                        "id name posts { id title score }",
                    ],
                    rng,
                );
                ("userChanged", arguments(&[id], rng), user)
            }
            _ => ("heard", String::new(), post),
        };
        let document = format!("subscription {{ {field}{arguments} {{ {selection} }} }}");
        Self {
            document,
            tenant: one(&["a", "a", "c"], rng),
        }
    }

    async fn begin(&self, service: &TestService) -> Subscribed {
        // A busy machine may take longer to listen than a subscriber waits.
        eventually(async || {
            let subscription = Subscription::new(self.document.as_str());
            let subscription = subscription
                .header("x-tenant", self.tenant)
                .expect("a header");
            service
                .subscribe(subscription)
                .await
                .map_err(|refused| format!("{self:?} is refused: {refused}"))
        })
        .await
    }

    /// The row that ends a transaction.
    fn marker(&self) -> i32 {
        if self.tenant == "a" { 901 } else { 902 }
    }

    /// Whether an answer is the marker's.
    fn is_marker(&self, answer: &Value, round: u64) -> bool {
        let marker = self.marker();
        let is_it = |row: &Value| {
            let text = row.get("title").or_else(|| row.get("name"));
            row["id"] == marker && text.and_then(Value::as_str) == Some(&format!("marker {round}"))
        };
        let values = answer["data"]
            .as_object()
            .into_iter()
            .flat_map(|data| data.values());
        values.into_iter().any(|value| {
            is_it(value) || value.as_array().is_some_and(|rows| rows.iter().any(is_it))
        })
    }

    /// The answers that follow the marker's: those to the markers of others, where rows that are
    /// kept back make an empty list.
    fn behind_marker(&self, markers: &[i32]) -> usize {
        let behind = markers
            .iter()
            .filter(|marker| **marker > self.marker())
            .count();
        if self.document.contains("heard") {
            behind
        } else {
            0
        }
    }

    /// The answers up to the marker's, and so many behind it.
    async fn hear(&self, answers: &mut Subscribed, round: u64, behind: usize) -> Vec<String> {
        let mut heard = Vec::new();
        let mut left = None;
        while left != Some(0) {
            let answer = timeout(PATIENCE, answers.next()).await;
            let answer = answer
                .unwrap_or_else(|_| panic!("{self:?} hears nothing of {round} after {heard:?}"));
            let answer = answer.expect("the stream goes on");
            heard.push(answer.to_string());
            left = match left {
                Some(left) => Some(left - 1),
                None => self.is_marker(&answer, round).then_some(behind),
            };
        }
        heard
    }
}

/// Two databases, their services, and what was written.
struct Twins {
    kind: &'static str,
    seed: u64,
    pools: [PgPool; 2],
    services: [TestService; 2],
    rng: StdRng,
    round: u64,
    /// The answers besides those of markers.
    told: usize,
}

impl Twins {
    /// Lets random subscribers hear of so many transactions, some of them at a time.
    async fn hear(&mut self, transactions: u64, at_once: usize) {
        let end = self.round + transactions;
        while self.round < end {
            let wanted: Vec<Wanted> = (0..at_once)
                .map(|_| Wanted::random(&mut self.rng))
                .collect();
            let mut subscribed = Vec::new();
            for wanted in &wanted {
                let [first, second] = &self.services;
                subscribed.push((wanted.begin(first).await, wanted.begin(second).await));
            }
            for _ in 0..HEARD {
                self.round += 1;
                self.compare(&wanted, &mut subscribed).await;
            }
        }
    }

    /// Writes, and compares what each subscriber hears of it.
    async fn compare(&mut self, wanted: &[Wanted], subscribed: &mut [(Subscribed, Subscribed)]) {
        // Behind its own marker nobody alone has an event, which would meet the next one of its row
        // or not.
        let markers: BTreeSet<i32> = wanted.iter().map(Wanted::marker).collect();
        let markers: Vec<i32> = markers.into_iter().collect();
        let [one, other] = writes(self.round, &markers, &mut self.rng);
        for (pool, sql) in self.pools.iter().zip([&one, &other]) {
            sqlx::raw_sql(sqlx::AssertSqlSafe(sql.as_str()))
                .execute(pool)
                .await
                .expect("a write");
        }
        let round = self.round;
        let heard = wanted
            .iter()
            .zip(subscribed)
            .map(async |(wanted, (first, second))| {
                let behind = wanted.behind_marker(&markers);
                tokio::join!(
                    wanted.hear(first, round, behind),
                    wanted.hear(second, round, behind)
                )
            });
        for (wanted, (first, second)) in wanted.iter().zip(join_all(heard).await) {
            let context = format!(
                "seed {}, {}, {round}: {wanted:?} after {one} and {other}",
                self.seed, self.kind
            );
            assert_eq!(first, second, "{context}");
            let second = second.join("\n");
            assert!(
                !second.contains(PLANTED) && !second.contains("errorId"),
                "{context}: {second}"
            );
            self.told += first.len() - 1 - wanted.behind_marker(&markers);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn withheld_rows_change_no_event() {
    let (seed, events) = (
        seed("ORACLE_SEED", SEED),
        cases("ORACLE_EVENTS", EVENTS, LONG),
    );
    for (kind, source) in KINDS.into_iter().zip(["\"c_", "\"d_", "\"tv_"]) {
        let one = database(&[svc::events::SVC_NOTIFY, ROWS, WATCHED].concat()).await;
        let other = database(&[svc::events::SVC_NOTIFY, ROWS, WATCHED, HIDDEN].concat()).await;
        let services = [
            TestService::start(guarded(kind, &one)).await.unwrap(),
            TestService::start(guarded(kind, &other)).await.unwrap(),
        ];
        let (pools, rng) = (
            [one.pool().await, other.pool().await],
            StdRng::seed_from_u64(seed),
        );
        let mut twins = Twins {
            kind,
            seed,
            pools,
            services,
            rng,
            round: 0,
            told: 0,
        };
        twins.hear(events, 1).await;
        // Statements of several who read together depend on who asks in time.
        let statements = (one.statements(source).await, other.statements(source).await);
        assert_eq!(
            statements.0, statements.1,
            "seed {seed}: {kind} takes another number of statements"
        );
        assert!(statements.0 > events as i64, "{kind}: {statements:?}");
        twins.hear(events, 8).await;
        assert!(
            twins.told as u64 > events,
            "{kind}: {} events are told",
            twins.told
        );
    }
}
