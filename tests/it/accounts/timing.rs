//! The time that a log-in takes.

use std::time::{Duration, Instant};

use svc::accounts::{AttemptLimits, PasswordHashing};

use super::client::{login, register};
use super::service::{Service, serve_with};

/// An unknown name and a wrong password, hundreds of each in turn: the times reveal nothing.
#[tokio::test]
#[ignore = "compares times, so it runs in the long suite"]
async fn unknown_names_take_as_long_as_wrong_passwords() {
    let service = serve_with(|factory| {
        let mut limits = AttemptLimits::default();
        (limits.per_account, limits.per_address) = (10_000, 10_000);
        factory
            .attempt_limits(limits)
            .hashing(PasswordHashing::default())
    })
    .await;
    register(&service.app, "known").await;
    for _ in 0..10 {
        login(&service.app, "known", "Wrong-horse-7").await;
        login(&service.app, "other", "Wrong-horse-7").await;
    }
    // A machine that is busy with something else makes a difference of its own, which more samples
    // even out.
    let (mut times, mut found) = ([Vec::new(), Vec::new()], Vec::new());
    for _ in 0..5 {
        measure(&service, &mut times).await;
        let [known, other] = times.each_mut().map(|times| undisturbed(times));
        let difference = known.abs_diff(other).as_secs_f64() / known.as_secs_f64();
        found.push(format!(
            "{known:?} for a known name and {other:?} for another: {:.1} %",
            difference * 100.0
        ));
        if difference < 0.05 {
            return;
        }
    }
    panic!("{found:?}");
}

/// Adds two hundred samples of each.
async fn measure(service: &Service, times: &mut [Vec<Duration>; 2]) {
    for round in 0..200 {
        // Which comes first changes, as the second finds warmer caches.
        for index in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
            let start = Instant::now();
            let reply = login(&service.app, ["known", "other"][index], "Wrong-horse-7").await;
            times[index].push(start.elapsed());
            assert_eq!(reply.status, 401);
        }
    }
}

/// The time that a fifth of the samples keep to: what disturbs the slower ones says nothing of the
/// log-in.
fn undisturbed(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 5]
}
