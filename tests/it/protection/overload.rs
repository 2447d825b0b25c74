//! Requests beyond what the service can take are refused at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use svc::prelude::*;
use svc::{DatabaseConfig, ProtectionConfig};
use svc_tests::{App, Reply, TestDatabase};

/// A row that takes PostgreSQL 100 ms.
#[svc_type(sql_source = "v_slow")]
struct Slow {
    id: i32,
}

#[svc::query]
async fn slow() -> Vec<Slow>;

const SQL: &str = "CREATE VIEW v_slow AS SELECT 1 AS id FROM pg_sleep(0.1)";
const POOL: u32 = 8;
/// The time of which the answers are counted, wherever in a load they are most: a machine that
/// stands still for a moment leaves such a part alone.
const PART: Duration = Duration::from_secs(3);
/// The loads of each kind, of which the best ones are compared: other tests run beside.
const ROUNDS: usize = 6;

async fn app(protection: ProtectionConfig) -> Arc<App> {
    let database = TestDatabase::new(SQL).await;
    // Nobody is refused because a connection is long in coming: that is not what is looked at here.
    let pool_timeout = Duration::from_secs(60);
    let config = SvcConfig {
        protection,
        database: DatabaseConfig {
            pool_size: POOL,
            pool_timeout,
            ..DatabaseConfig::default()
        },
        ..SvcConfig::default()
    };
    Arc::new(
        App::serve(
            AppOptions::new()
                .config(config)
                .database_url(database.url())
                .queries(queries![slow]),
        )
        .await,
    )
}

async fn ask(app: &App) -> (Reply, Duration) {
    let start = Instant::now();
    let reply = app.query("{ slow { id } }").await;
    (reply, start.elapsed())
}

/// The replies to clients: the times of the answers, and those of the refusals with how long each
/// took.
#[derive(Debug, Default)]
struct Load {
    answered: Vec<Instant>,
    refused: Vec<(Instant, Duration)>,
}

impl Load {
    /// The most answers within a part of it; where some were refused, of those that came since
    /// then.
    fn most_in_a_part(&self) -> usize {
        let from = self.refused.iter().map(|(at, _)| *at).min();
        let is_counted = |at: &Instant| from.is_none_or(|from| *at >= from);
        let mut times: Vec<Instant> = self.answered.iter().copied().filter(is_counted).collect();
        times.sort_unstable();
        let in_part = |begin: usize| {
            times[begin..].partition_point(|at| at.duration_since(times[begin]) <= PART)
        };
        (0..times.len()).map(in_part).max().unwrap_or_default()
    }

    /// The time that half of the refusals take at most, if there are any.
    fn usual_refusal(&self) -> Option<Duration> {
        let mut times: Vec<Duration> = self.refused.iter().map(|(_, took)| *took).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied()
    }
}

/// Clients that ask again and again for a time; those that are refused pause.
async fn load(app: &Arc<App>, clients: usize, time: Duration, pause: Duration) -> Load {
    let end = Instant::now() + time;
    let client = |app: Arc<App>| async move {
        let mut load = Load::default();
        while Instant::now() < end {
            let (reply, took) = ask(&app).await;
            match reply.status {
                200 => load.answered.push(Instant::now()),
                503 => {
                    assert_eq!(
                        (reply.code().as_str(), &reply.headers["retry-after"]),
                        ("SERVICE_UNAVAILABLE", &"1".parse().unwrap())
                    );
                    load.refused.push((Instant::now(), took));
                    tokio::time::sleep(pause).await;
                }
                _ => panic!("{reply:?}"),
            }
        }
        load
    };
    let clients = (0..clients).map(|_| tokio::spawn(client(app.clone())));
    let loads = join_all(clients)
        .await
        .into_iter()
        .map(|load| load.unwrap());
    loads.fold(Load::default(), |mut all, load| {
        all.answered.extend(load.answered);
        all.refused.extend(load.refused);
        all
    })
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "compares times, so it runs in the long suite"]
async fn four_times_the_load_is_shed_and_the_rest_served_as_before() {
    let app = app(ProtectionConfig {
        shed_after: Duration::ZERO,
        ..ProtectionConfig::default()
    })
    .await;
    ask(&app).await;
    // Each was seen once: nobody refused before it was too much, the rest served, the refused at
    // once, and all again.
    let (mut is_calm, mut is_served, mut is_quick, mut is_recovered) = (false, false, false, false);
    let mut rounds = Vec::new();
    let mut peak = 0_usize;
    for round in 0..=ROUNDS {
        // As many as there are connections: all that the database can do, 80 in a second.
        let calm = load(
            &app,
            POOL as usize,
            PART + Duration::from_secs(1),
            Duration::ZERO,
        )
        .await;
        let most = calm.most_in_a_part();
        is_calm |= calm.refused.is_empty();
        // It recovers by itself from the load before.
        is_recovered |= round > 0 && calm.refused.is_empty() && most > 0 && most * 4 >= peak * 3;
        peak = most;
        if is_calm && is_served && is_quick && is_recovered {
            return;
        }
        // Those that are refused come again, 320 in a second.
        let high = load(
            &app,
            8 * POOL as usize,
            2 * PART + Duration::from_secs(1),
            Duration::from_millis(200),
        )
        .await;
        assert_eq!(app.get("/health").await.status, 200);
        let (served, usual) = (high.most_in_a_part(), high.usual_refusal());
        // Without any refusal, it was not shed.
        is_served |= usual.is_some() && peak > 0 && served * 10 >= peak * 9;
        is_quick |= usual.is_some_and(|usual| usual < Duration::from_millis(50));
        rounds.push(format!(
            "{served} in place of {peak}; half of the refusals took {usual:?} and more"
        ));
    }
    panic!(
        "calm: {is_calm}, served: {is_served}, quick: {is_quick}, recovered: {is_recovered}; {rounds:#?}"
    );
}

/// Some were answered, and some refused.
fn both_happen(load: &Load) {
    let (answered, refused) = (load.answered.len(), load.refused.len());
    assert!(
        answered > 0 && refused > 0,
        "{answered} answered, {refused} refused"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn probes_are_answered_while_requests_are_shed() {
    let app = app(ProtectionConfig {
        shed_after: Duration::ZERO,
        max_in_flight: 1,
        ..ProtectionConfig::default()
    })
    .await;
    let loaded = tokio::spawn({
        let app = app.clone();
        async move { load(&app, 20, Duration::from_secs(1), Duration::from_millis(5)).await }
    });
    let (mut probes, mut late) = (0, Vec::new());
    while probes < 20 || !loaded.is_finished() {
        assert_eq!(app.get("/health").await.status, 200);
        let ready = app.get("/ready").await;
        probes += 1;
        late.extend((ready.status != 200).then_some(ready.text));
    }
    // The machine may stand still for the second that the database has to answer.
    assert!(
        late.len() * 2 < probes,
        "{} of {probes}: {:#?}",
        late.len(),
        late.last()
    );
    both_happen(&loaded.await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_is_queued_and_sustained_overload_is_shed() {
    let patient = |seconds| ProtectionConfig {
        shed_after: Duration::from_secs(seconds),
        ..ProtectionConfig::default()
    };
    let app = app(patient(60)).await;
    // Twelve times what runs at once, which takes 1.2 s where the machine is not busy.
    let replies = join_all((0..12 * POOL).map(|_| ask(&app))).await;
    let refused = replies
        .iter()
        .filter(|(reply, _)| reply.status != 200)
        .count();
    assert_eq!(refused, 0, "of {}", replies.len());
    let app = self::app(patient(4)).await;
    both_happen(
        &load(
            &app,
            16 * POOL as usize,
            Duration::from_secs(10),
            Duration::from_millis(100),
        )
        .await,
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_shedding_all_requests_are_queued() {
    let app = app(ProtectionConfig {
        load_shedding: false,
        max_in_flight: 1,
        ..ProtectionConfig::default()
    })
    .await;
    let replies = join_all((0..100).map(|_| ask(&app))).await;
    assert!(replies.iter().all(|(reply, _)| reply.status == 200));
}
