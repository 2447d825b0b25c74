//! Limits that instances share through Redis, and what happens while it is away.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::json;
use svc::RedisClient;
use svc::rate_limit::RateLimitStrategy::{FixedWindow, SlidingWindow, TokenBucket};
use svc::rate_limit::{RateLimit, RateLimitConfig, RateLimiting};
use svc_tests::raw::Client;
use svc_tests::{App, Log, Redis, Socket, eventually};

use super::service::{
    Clock, ask, config, flood, limited, options, passing, post, serve, serve_options, wide,
    with_batches,
};

const CLIENT: &str = "192.0.2.1";
/// The bound of the settings and what a busy machine adds.
const PATIENCE: Duration = Duration::from_secs(50);

async fn instance(redis: &Redis, limiting: RateLimiting) -> App {
    serve(limiting.redis_client(&client_of(redis))).await
}

/// A client that waits for as long as the settings of the limits say.
fn client_of(redis: &Redis) -> RedisClient {
    RedisClient::with_timeout(&redis.url(), Duration::from_secs(60)).unwrap()
}

/// The settings of a service that would rather wait than count alone, as the machine may be busy.
fn patient() -> RateLimitConfig {
    RateLimitConfig {
        redis_timeout: Duration::from_secs(30),
        ..config(&[])
    }
}

/// A window of Redis's clock that does not end within minutes.
fn window() -> Duration {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let far = |window: &u64| window - now % window > 600 && now % window > 600;
    Duration::from_secs([86_400, 80_000, 70_000].into_iter().find(far).unwrap())
}

/// Two instances whose clocks differ by two seconds.
async fn instances(redis: &Redis, limiting: impl Fn(&Clock) -> RateLimiting) -> [App; 2] {
    let (first, second) = (Clock::new(), Clock::new());
    second.advance(Duration::from_secs(2));
    [
        instance(redis, limiting(&first)).await,
        instance(redis, limiting(&second)).await,
    ]
}

#[tokio::test]
async fn instances_share_exact_limits() {
    let redis = Redis::new().await;
    for (number, strategy) in [FixedWindow, SlidingWindow, TokenBucket]
        .into_iter()
        .enumerate()
    {
        let limit = RateLimit::requests(50)
            .per(window())
            .strategy(strategy)
            .burst(50);
        let apps = instances(&redis, |clock| limited(clock, limit).config(patient())).await;
        let client = format!("198.51.100.{number}");
        let passed =
            passing((0..128).map(|number| ask(&apps[number % 2], &client, "{ hello }"))).await;
        assert_eq!(passed, 50, "{strategy:?}");
        let refused = ask(&apps[0], &client, "{ hello }").await;
        assert_eq!(
            (refused.status, refused.code()),
            (429, "RATE_LIMITED".to_owned()),
            "{strategy:?}"
        );
        assert_eq!(refused.headers["x-ratelimit-remaining"], "0");
        let other = format!("203.0.113.{number}");
        assert_eq!(
            ask(&apps[1], &other, "{ hello }").await.headers["x-ratelimit-remaining"],
            "49",
            "{strategy:?}"
        );
    }
}

/// The calls of a command that Redis has answered.
async fn calls(redis: &Redis, command: &str) -> u64 {
    let text = redis.answer("INFO commandstats").await;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(&format!("cmdstat_{command}:calls=")));
    line.map_or(0, |line| line.split(',').next().unwrap().parse().unwrap())
}

#[tokio::test]
async fn all_limits_of_a_request_are_one_round_trip() {
    let redis = Redis::new().await;
    let limiting = limited(&Clock::new(), RateLimit::requests(20))
        .budget(RateLimit::cost(1_000))
        .config(patient());
    let app = instance(&redis, limiting).await;
    // The first one makes the script known.
    assert_eq!(ask(&app, CLIENT, "{ hello }").await.status, 200);
    let before = calls(&redis, "evalsha").await;
    for _ in 0..10 {
        assert_eq!(
            ask(&app, CLIENT, "mutation { invite: ping }").await.status,
            200
        );
    }
    assert_eq!(calls(&redis, "evalsha").await - before, 10);
    assert_eq!(calls(&redis, "eval").await, 1);
}

/// The part that an operation did not use is given back in Redis.
#[tokio::test]
async fn a_budget_is_shared_and_refunded() {
    let redis = Redis::new().await;
    let apps = instances(&redis, |clock| {
        wide(clock)
            .budget(RateLimit::cost(2_010).per(window()))
            .config(patient())
    })
    .await;
    let large = "{ items(limit: 1000) { name size } }";
    assert_eq!(ask(&apps[0], CLIENT, large).await.status, 200);
    eventually(async || match ask(&apps[1], CLIENT, large).await.status {
        200 => Ok(()),
        status => Err(status.to_string()),
    })
    .await;
    eventually(async || {
        match ask(&apps[0], CLIENT, "{ items(limit: 995) { name size } }")
            .await
            .status
        {
            200 => Ok(()),
            status => Err(status.to_string()),
        }
    })
    .await;
    assert_eq!(ask(&apps[1], CLIENT, large).await.status, 429);
}

/// Nothing of a client can be read in Redis, and one client's keys are in one slot of a cluster.
#[tokio::test]
async fn keys_hold_no_client_and_one_hash_tag() {
    let redis = Redis::new().await;
    let app = instance(
        &redis,
        limited(&Clock::new(), RateLimit::requests(20)).config(patient()),
    )
    .await;
    assert_eq!(
        ask(&app, "hunter2-hunter2", "mutation { ping }")
            .await
            .status,
        200
    );
    let text = redis.answer("KEYS *").await;
    let tag = |line: &str| Some(line.split_once('{')?.1.split_once('}')?.0.to_owned());
    let tags: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("svc:rate:"))
        .filter_map(tag)
        .collect();
    assert_eq!(tags.len(), 3, "{text}");
    assert!(
        tags.iter().all(|tag| *tag == tags[0] && tag.len() == 32) && !text.contains("hunter2"),
        "{text}"
    );
}

/// While Redis is away each process counts by itself, with its share; nothing fails, and nobody
/// waits for long.
async fn survives(
    redis: &mut Redis,
    away: impl AsyncFnOnce(&mut Redis) -> Option<svc_tests::Frozen>,
) {
    let log = Log::start();
    // Patient, as no request may be counted alone before Redis is away.
    let settings = RateLimitConfig {
        redis_timeout: Duration::from_secs(6),
        instances: 2,
        ..config(&[])
    };
    let limit = RateLimit::requests(40).per(window()).strategy(FixedWindow);
    let apps = instances(redis, |clock| {
        limited(clock, limit).config(settings.clone())
    })
    .await;
    for app in &apps {
        assert_eq!(flood(app, CLIENT, "{ hello }", 5).await, 5);
    }
    let frozen = away(redis).await;
    let start = Instant::now();
    // Each has let through 5 of its share of 20.
    assert_eq!(flood(&apps[0], CLIENT, "{ hello }", 64).await, 15);
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    assert_eq!(flood(&apps[1], CLIENT, "{ hello }", 64).await, 15);
    assert_eq!(flood(&apps[1], "192.0.2.7", "{ hello }", 64).await, 20);
    log.has("rate limits are counted by this process alone")
        .await;
    drop(frozen);
    if calls_or_away(redis).await {
        redis.start().await;
    }
    // 10 were counted in Redis before.
    eventually(async || {
        match log
            .text()
            .contains("rate limits are counted in Redis again")
        {
            true => Ok(()),
            false => {
                ask(&apps[0], "192.0.2.8", "{ hello }").await;
                Err("Redis is not asked again".to_owned())
            }
        }
    })
    .await;
    eventually(async || {
        match ask(&apps[1], "192.0.2.8", "{ hello }").await.headers["x-ratelimit-limit"].to_str() {
            Ok("40") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    let passed = flood(&apps[0], CLIENT, "{ hello }", 64).await;
    assert!(passed <= 30, "{passed} passed");
}

/// Whether nothing listens where Redis was.
async fn calls_or_away(redis: &Redis) -> bool {
    tokio::net::TcpStream::connect(("127.0.0.1", redis.port()))
        .await
        .is_err()
}

#[tokio::test]
async fn redis_may_be_stopped_and_started() {
    let mut redis = Redis::new().await;
    survives(&mut redis, async |redis| {
        redis.stop();
        None
    })
    .await;
}

#[tokio::test]
async fn redis_may_be_frozen() {
    let mut redis = Redis::new().await;
    survives(&mut redis, async |redis| Some(redis.freeze())).await;
}

/// Under load, no request fails or waits for long while Redis goes and comes, and no more pass than
/// may.
#[tokio::test]
async fn limits_hold_while_redis_goes_and_returns_under_load() {
    let mut redis = Redis::new().await;
    let limit = RateLimit::requests(100).per(window()).strategy(FixedWindow);
    let app = instance(&redis, limited(&Clock::new(), limit)).await;
    let (mut passed, mut longest) = (0, Duration::ZERO);
    for round in 0..12 {
        match round {
            3 => redis.stop(),
            6 => redis.start().await,
            _ => {}
        }
        let frozen = (round == 9).then(|| redis.freeze());
        let start = Instant::now();
        passed += passing((0..32).map(|_| ask(&app, CLIENT, "{ hello }"))).await;
        longest = longest.max(start.elapsed());
        drop(frozen);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(longest < PATIENCE, "{longest:?}");
    // Once in Redis, and never more than once again in the process.
    assert!((100..=200).contains(&passed), "{passed} passed");
}

/// What is left of the budget of the client.
async fn left(app: &App) -> Option<u64> {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .header("x-forwarded-for", CLIENT)
        .header("x-ratelimit-cost", "true");
    let reply = app.send(request.body(json!({ "query": "{ hello }" }).to_string()));
    reply.await.json()["extensions"]["rateLimit"]["remaining"].as_u64()
}

/// A request that begins without Redis and ends with it: only this process has counted it.
#[tokio::test]
async fn a_budget_is_not_refunded_to_a_store_that_has_not_counted_it() {
    let mut redis = Redis::new().await;
    let log = Log::start();
    let budget = RateLimit::cost(5_000).per(window()).strategy(TokenBucket);
    let limiting = wide(&Clock::new())
        .budget(budget.burst(5_000))
        .config(patient())
        .redis_client(&client_of(&redis));
    let options = options().request_timeout(Duration::from_secs(15));
    let app = serve_options(options, limiting).await;
    let small = "{ items(limit: 3) { name size } }";
    assert_eq!(flood(&app, CLIENT, small, 100).await, 100);
    redis.stop();
    let back = async {
        // 700 and 1,801.
        eventually(async || match left(&app).await {
            Some(left) if left < 2_500 => Ok(()),
            left => Err(format!("{left:?} are left")),
        })
        .await;
        redis.start().await;
        eventually(async || {
            ask(&app, "192.0.2.8", "{ hello }").await;
            match log
                .text()
                .contains("rate limits are counted in Redis again")
            {
                true => Ok(()),
                false => Err("Redis is not asked again".to_owned()),
            }
        })
        .await;
    };
    let late = ask(&app, CLIENT, "{ never(limit: 900) { name size } }");
    let (late, ()) = tokio::join!(late, back);
    assert_eq!((late.status, late.code()), (504, "TIMEOUT".to_owned()));

    // Its refund comes after the one above.
    let large = "{ items(limit: 1000) { name size } }";
    assert_eq!(ask(&app, CLIENT, large).await.status, 200);
    eventually(async || match left(&app).await {
        Some(left) if left > 4_000 => Ok(()),
        left => Err(format!("{left:?} are left")),
    })
    .await;
    let left = left(&app).await.unwrap();
    assert!(left < 4_400, "{left} are left");
}

/// Requests that come to no operation are counted beside others, as nobody may wait for their
/// answer any more.
#[tokio::test]
async fn requests_that_run_no_operation_are_counted_in_redis() {
    let redis = Redis::new().await;
    let limiting = limited(&Clock::new(), RateLimit::requests(100).per(window())).config(patient());
    let app = serve_options(with_batches(), limiting.redis_client(&client_of(&redis))).await;
    let forwarded = ("x-forwarded-for", CLIENT);
    let headers = [
        ("sec-websocket-protocol", "graphql-transport-ws"),
        forwarded,
    ];
    let mut socket = Socket::upgrade(&app, &headers).await.unwrap();
    socket.send(&json!({ "type": "connection_init" })).await;
    socket.next().await;
    socket.subscribe("1", "{ nothing }").await;
    assert_eq!(
        socket.next().await["payload"][0]["extensions"]["code"],
        "GRAPHQL_VALIDATION_FAILED"
    );
    // Three of a batch, of which none can be run.
    let batch = json!([{ "query": "{" }, { "query": "{ nothing }" }, 7]);
    assert_eq!(post(&app, "/graphql", CLIENT, &batch).await.status, 200);
    // One whose client goes before its body has come.
    let mut client = Client::open(app.address()).await;
    let head = "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99\r\n";
    client
        .send(&format!("{head}{}: {}\r\n\r\n{{", forwarded.0, forwarded.1))
        .await;
    drop(client);
    // The opening, one on the socket, three of the batch, one that was dropped, and those that
    // look.
    let seen = std::cell::Cell::new(0);
    eventually(async || {
        let reply = ask(&app, CLIENT, "{ hello }").await;
        seen.set(seen.get() + 1);
        let remaining: usize = reply.headers["x-ratelimit-remaining"]
            .to_str()
            .unwrap()
            .parse()
            .unwrap();
        if remaining + seen.get() == 94 {
            Ok(())
        } else {
            Err(format!("{remaining} are left"))
        }
    })
    .await;
}
