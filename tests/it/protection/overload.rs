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

async fn app(protection: ProtectionConfig) -> Arc<App> {
    let database = TestDatabase::new(SQL).await;
    let config = SvcConfig {
        protection,
        database: DatabaseConfig { pool_size: POOL, ..DatabaseConfig::default() },
        ..SvcConfig::default()
    };
    Arc::new(App::serve(AppOptions::new().config(config).database_url(database.url()).queries(queries![slow])).await)
}

async fn ask(app: &App) -> (Reply, Duration) {
    let start = Instant::now();
    let reply = app.query("{ slow { id } }").await;
    (reply, start.elapsed())
}

/// The answers within a time, by clients that ask again and again: how many there were, and the times of those that
/// were refused.
async fn load(app: &Arc<App>, clients: usize, time: Duration, pause: Duration) -> (usize, Vec<Duration>) {
    let end = Instant::now() + time;
    let client = |app: Arc<App>| async move {
        let (mut answered, mut refused) = (0, Vec::new());
        while Instant::now() < end {
            let (reply, took) = ask(&app).await;
            match reply.status {
                200 => answered += 1,
                503 => {
                    assert_eq!(
                        (reply.code().as_str(), &reply.headers["retry-after"]),
                        ("SERVICE_UNAVAILABLE", &"1".parse().unwrap())
                    );
                    refused.push(took);
                    tokio::time::sleep(pause).await;
                }
                _ => panic!("{reply:?}"),
            }
        }
        (answered, refused)
    };
    let clients = (0..clients).map(|_| tokio::spawn(client(app.clone())));
    let counts = join_all(clients).await.into_iter().map(|count| count.unwrap());
    counts.fold((0, Vec::new()), |(all, mut times), (answered, refused)| {
        times.extend(refused);
        (all + answered, times)
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn four_times_the_load_is_shed_and_the_rest_served_as_before() {
    let app = app(ProtectionConfig { shed_after: Duration::ZERO, ..ProtectionConfig::default() }).await;
    ask(&app).await;
    let time = Duration::from_secs(6);
    // As many as there are connections: all that the database can do, 80 in a second.
    let (peak, refused) = load(&app, POOL as usize, time, Duration::ZERO).await;
    assert_eq!(refused.len(), 0, "nobody is refused before it is too much");
    // Those that are refused come again, 320 in a second.
    let (answered, mut refused) = load(&app, 8 * POOL as usize, time, Duration::from_millis(200)).await;
    refused.sort_unstable();
    assert!(!refused.is_empty(), "{answered} of {peak}");
    assert!(answered * 10 >= peak * 9, "{answered} in place of {peak}, {} refused", refused.len());
    let health = Instant::now();
    assert_eq!(app.get("/health").await.status, 200);
    assert!(health.elapsed() < Duration::from_secs(1));
    let usual = refused[refused.len() / 2];
    assert!(usual < Duration::from_millis(50), "half of the refusals took {usual:?} and more");
    // It recovers by itself.
    let (later, refused) = load(&app, POOL as usize, Duration::from_secs(1), Duration::ZERO).await;
    assert!(refused.is_empty() && later * 8 >= peak, "{later} of {peak}, {} refused", refused.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn probes_are_answered_while_requests_are_shed() {
    let app =
        app(ProtectionConfig { shed_after: Duration::ZERO, max_in_flight: 1, ..ProtectionConfig::default() }).await;
    let loaded = tokio::spawn({
        let app = app.clone();
        async move { load(&app, 20, Duration::from_secs(1), Duration::from_millis(5)).await }
    });
    for _ in 0..20 {
        assert_eq!(app.get("/health").await.status, 200);
        assert_eq!(app.get("/ready").await.status, 200);
    }
    let (answered, refused) = loaded.await.unwrap();
    assert!(answered > 0 && !refused.is_empty(), "{answered} answered, {} refused", refused.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_waits_for_its_turn_and_what_goes_on_is_shed() {
    let app = app(ProtectionConfig { shed_after: Duration::from_secs(2), ..ProtectionConfig::default() }).await;
    // Twelve times what runs at once, which takes 1.2 s.
    let replies = join_all((0..12 * POOL).map(|_| ask(&app))).await;
    let refused = replies.iter().filter(|(reply, _)| reply.status != 200).count();
    assert_eq!(refused, 0, "of {}", replies.len());
    let (answered, refused) = load(&app, 16 * POOL as usize, Duration::from_secs(6), Duration::from_millis(100)).await;
    assert!(answered > 0 && !refused.is_empty(), "{answered} answered, {} refused", refused.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_shedding_all_wait_for_their_turn() {
    let app = app(ProtectionConfig { load_shedding: false, max_in_flight: 1, ..ProtectionConfig::default() }).await;
    let replies = join_all((0..100).map(|_| ask(&app))).await;
    assert!(replies.iter().all(|(reply, _)| reply.status == 200));
}
