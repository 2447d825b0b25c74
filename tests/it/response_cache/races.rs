//! Races between reads and writes, through two instances: no one gets another's
//! answer, and none is older than it may be.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use svc::ResponseCache;
use svc::prelude::*;
use svc_tests::{App, TestDatabase, cases};

use super::service::{ask, serve};

/// The number of races in every run, and in the long suite.
const RACES: u64 = 3_000;
const LONG: u64 = 10_000;
const USERS: usize = 4;
const RACERS: usize = 16;
/// The time after which a write is seen through every instance, on a busy machine that runs tests
/// beside.
const HEARD: Duration = Duration::from_secs(8);
/// The races that are run meanwhile: a machine that stands still hears of nothing.
const PASSED: usize = 200;
/// The writes that all have to have heard of before the last race.
const WRITES: usize = 20;

#[svc_type(sql_source = "v_raced")]
struct Raced {
    id: i32,
    owner: String,
    version: i64,
}

/// The row of the user.
#[svc::query(cache = 60)]
async fn mine(ctx: &Context<'_>) -> Result<FindOne<Raced>> {
    Ok(ctx
        .db()
        .find_one::<Raced>()
        .filter(col("owner").eq(ctx.require_user()?.user_id.clone())))
}

#[svc::query(cache = 60)]
async fn row(id: i32) -> Option<Raced>;

#[svc::query(cache = 60)]
fn tick(text: Option<String>) -> i32 {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    drop(text);
    NEXT.fetch_add(1, Ordering::SeqCst)
        .try_into()
        .unwrap_or_default()
}

#[svc::mutation(invalidates = [Raced])]
async fn advance(ctx: &Context<'_>, id: i32) -> Result<i64> {
    let update = "UPDATE tb_raced SET version = version + 1 WHERE id = $1 RETURNING version";
    Ok(sqlx::query_scalar(update)
        .bind(id)
        .fetch_one(ctx.db().pool())
        .await?)
}

const SQL: &str = "
    CREATE TABLE tb_raced (id int PRIMARY KEY, owner text NOT NULL, version bigint NOT NULL);
    INSERT INTO tb_raced SELECT n, 'user' || n, 0 FROM generate_series(0, 3) AS n;
    CREATE VIEW v_raced AS SELECT id, owner, version FROM tb_raced;
    CREATE TRIGGER raced AFTER INSERT OR UPDATE OR DELETE ON tb_raced FOR EACH ROW EXECUTE FUNCTION svc_notify('raced');";

/// The versions that reads may not fall behind.
#[derive(Default)]
struct Floors {
    /// By instance and row: what a mutation there has answered.
    told: [[AtomicI64; USERS]; 2],
    /// By row: what was written so long ago that every instance has heard of it.
    heard: [AtomicI64; USERS],
    /// The number of such writes.
    writes: AtomicUsize,
}

struct Race {
    apps: [App; 2],
    floors: Floors,
    races: usize,
    begun: AtomicUsize,
}

async fn instance(database: &TestDatabase) -> App {
    let cache = ResponseCache::new().changed_by::<Raced>("raced");
    let options = AppOptions::new()
        .database_url(database.url())
        .queries(queries![mine, row, tick]);
    serve(options.mutations(mutations![advance]).response_cache(cache)).await
}

impl Race {
    async fn run(self: Arc<Self>, seed: u64, pool: sqlx::PgPool) {
        let mut random = StdRng::seed_from_u64(seed);
        while self.begun.fetch_add(1, Ordering::SeqCst) < self.races
            || self.floors.writes.load(Ordering::SeqCst) < WRITES
        {
            let (instance, user) = (random.random_range(0..2), random.random_range(0..USERS));
            match random.random_range(0..100) {
                0 => self.mutate(instance, user).await,
                1 => self.write(user, &pool).await,
                2..50 => {
                    self.read(instance, user, "{ mine { id owner version } }", "mine")
                        .await;
                }
                _ => {
                    self.read(
                        instance,
                        user,
                        &format!("{{ row(id: {user}) {{ id owner version }} }}"),
                        "row",
                    )
                    .await;
                }
            }
        }
    }

    async fn read(&self, instance: usize, user: usize, document: &str, field: &str) {
        let heard = self.floors.heard[user].load(Ordering::SeqCst);
        let told = self.floors.told[instance][user].load(Ordering::SeqCst);
        let name = format!("user{user}");
        let reply = ask(&self.apps[instance], document, &[("x-user", &name)])
            .await
            .data();
        let row: &Value = &reply[field];
        assert_eq!(
            (&row["owner"], &row["id"]),
            (&json!(name), &json!(user)),
            "{reply}"
        );
        let version = row["version"].as_i64().unwrap();
        assert!(
            version >= told,
            "{version} is older than the {told} that a mutation here has told"
        );
        assert!(
            version >= heard,
            "{version} is older than the {heard} that all have heard of"
        );
    }

    async fn mutate(&self, instance: usize, user: usize) {
        let reply = self.apps[instance]
            .query(&format!("mutation {{ advance(id: {user}) }}"))
            .await
            .data();
        let version = reply["advance"].as_i64().unwrap();
        self.floors.told[instance][user].fetch_max(version, Ordering::SeqCst);
    }

    /// A write by psql, of which both hear.
    async fn write(&self, user: usize, pool: &sqlx::PgPool) {
        let update = "UPDATE tb_raced SET version = version + 1 WHERE id = $1 RETURNING version";
        let id = i32::try_from(user).unwrap();
        let version: i64 = sqlx::query_scalar(update)
            .bind(id)
            .fetch_one(pool)
            .await
            .unwrap();
        self.floors
            .heard_later(user, version, self.begun.load(Ordering::SeqCst));
    }
}

impl Floors {
    /// Notes a write when so many races had begun.
    fn heard_later(&self, user: usize, version: i64, begun: usize) {
        // The next write tells, after the time and the races have passed.
        static WRITTEN: std::sync::Mutex<Vec<(Instant, usize, usize, i64)>> =
            std::sync::Mutex::new(Vec::new());
        let mut written = WRITTEN.lock().unwrap();
        written.push((Instant::now(), begun, user, version));
        let is_heard =
            |at: Instant, then: usize| at.elapsed() > HEARD && begun.saturating_sub(then) > PASSED;
        for (.., user, version) in written.extract_if(.., |(at, then, ..)| is_heard(*at, *then)) {
            self.heard[user].fetch_max(version, Ordering::SeqCst);
            self.writes.fetch_add(1, Ordering::SeqCst);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_reader_gets_a_foreign_or_stale_response() {
    let database = TestDatabase::new(&format!("{}{SQL}", svc::events::SVC_NOTIFY)).await;
    let apps = [instance(&database).await, instance(&database).await];
    let before = database.statements("v_raced").await;
    let race = Arc::new(Race {
        apps,
        floors: Floors::default(),
        races: usize::try_from(cases("CACHE_RACES", RACES, LONG)).unwrap(),
        begun: AtomicUsize::new(0),
    });
    let pool = database.pool().await;
    let seed: u64 = rand::random();
    let racers = (0..RACERS as u64)
        .map(|racer| tokio::spawn(race.clone().run(seed.wrapping_add(racer), pool.clone())));
    for raced in join_all(racers).await {
        raced.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
    pool.close().await;
    let read = database.statements("v_raced").await - before;
    let races = race.begun.load(Ordering::SeqCst);
    assert!(
        read < races as i64 / 2,
        "most answers are kept: {read} statements in {races} races"
    );
    let mut kept = svc_tests::eventually(async || {
        let mut versions = Vec::new();
        for app in &race.apps {
            versions.push(ask(app, "{ row(id: 0) { version } }", &[]).await.data());
        }
        versions.dedup();
        if versions.len() == 1 {
            Ok(versions)
        } else {
            Err(format!("{versions:?}"))
        }
    })
    .await;
    assert!(kept.pop().is_some());
}
