//! The blog with rate limits.

use std::time::{SystemTime, UNIX_EPOCH};

use svc_tests::client;

use super::{Blog, command};

/// The statuses of 100 requests that are sent at once, as many as are equal.
async fn statuses(blog: &Blog) -> [usize; 2] {
    let client = client();
    let send = || {
        let request = client
            .post(&blog.url)
            .header("content-type", "application/json");
        tokio::spawn(request.body(r#"{"query":"{ __typename }"}"#).send())
    };

    let sent: Vec<_> = (0..100).map(|_| send()).collect();
    let mut seen = Vec::new();
    for answer in sent {
        seen.push(answer.await.unwrap().unwrap().status().as_u16());
    }

    [200, 429].map(|wanted| seen.iter().filter(|status| **status == wanted).count())
}

/// The number of the minute, as windows of a minute begin with it.
fn minute() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
        / 60
}

#[tokio::test]
async fn sixty_of_a_hundred_requests_pass() {
    let folder = tempfile::tempdir().unwrap();
    let mut limited = command(folder.path());
    limited
        .env("SVC_RATE_LIMIT_ENABLED", "true")
        .env("SVC_RATE_LIMIT_REQUESTS_PER_MINUTE", "60");
    let mut tries = 0..10;
    loop {
        tries.next().expect("a minute in which all are sent");
        let blog = Blog::start_with(&mut limited);
        let (begun, found) = (minute(), statuses(&blog).await);
        let is_one_minute = minute() == begun;
        assert_eq!(blog.terminate(), Some(0));
        // More pass where another minute begins in between.
        if is_one_minute {
            assert_eq!(found, [60, 40]);
            break;
        }
    }

    let open =
        Blog::start_with(command(folder.path()).env("SVC_RATE_LIMIT_REQUESTS_PER_MINUTE", "60"));
    assert_eq!(statuses(&open).await, [100, 0]);

    assert_eq!(open.terminate(), Some(0));
}
