//! The time that a log-in takes.

use std::time::{Duration, Instant};

use svc::accounts::{AttemptLimits, PasswordHashing};

use super::client::{login, register};
use super::service::{Service, serve_with};

/// An unknown name and a wrong password, two hundred of each by turns: who measures learns nothing.
#[tokio::test]
async fn unknown_names_take_as_long_as_wrong_passwords() {
    let service = serve_with(|factory| {
        let mut limits = AttemptLimits::default();
        (limits.per_account, limits.per_address) = (10_000, 10_000);
        factory.attempt_limits(limits).hashing(PasswordHashing::default())
    })
    .await;
    register(&service.app, "known").await;
    for _ in 0..10 {
        login(&service.app, "known", "Wrong-horse-7").await;
        login(&service.app, "other", "Wrong-horse-7").await;
    }
    // A machine that is busy with something else may make a difference of its own, but not each time.
    let mut found = Vec::new();
    for _ in 0..3 {
        let [known, other] = medians(&service).await;
        let difference = known.abs_diff(other).as_secs_f64() / known.as_secs_f64();
        found.push(format!("{known:?} for a known name and {other:?} for another: {:.1} %", difference * 100.0));
        if difference < 0.05 {
            return;
        }
    }
    panic!("{found:?}");
}

async fn medians(service: &Service) -> [Duration; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..200 {
        // Which comes first changes, as the second finds warmer caches.
        for index in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
            let start = Instant::now();
            let reply = login(&service.app, ["known", "other"][index], "Wrong-horse-7").await;
            times[index].push(start.elapsed());
            assert_eq!(reply.status, 401);
        }
    }
    times.map(median)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
