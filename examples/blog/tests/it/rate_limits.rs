//! The blog with rate limits.

use svc_tests::client;

use super::{Blog, command};

/// The statuses of 100 requests that are sent at once, as many as are equal.
async fn statuses(blog: &Blog) -> [usize; 2] {
    let client = client();
    let send = || {
        let request = client.post(&blog.url).header("content-type", "application/json");
        tokio::spawn(request.body(r#"{"query":"{ __typename }"}"#).send())
    };
    let sent: Vec<_> = (0..100).map(|_| send()).collect();
    let mut seen = Vec::new();
    for answer in sent {
        seen.push(answer.await.unwrap().unwrap().status().as_u16());
    }
    [200, 429].map(|wanted| seen.iter().filter(|status| **status == wanted).count())
}

#[tokio::test]
async fn sixty_of_a_hundred_requests_pass() {
    let folder = tempfile::tempdir().unwrap();
    let mut limited = command(folder.path());
    limited.env("SVC_RATE_LIMIT_ENABLED", "true").env("SVC_RATE_LIMIT_REQUESTS_PER_MINUTE", "60");
    let blog = Blog::start_with(&mut limited);
    assert_eq!(statuses(&blog).await, [60, 40]);
    assert_eq!(blog.terminate(), Some(0));
    let open = Blog::start_with(command(folder.path()).env("SVC_RATE_LIMIT_REQUESTS_PER_MINUTE", "60"));
    assert_eq!(statuses(&open).await, [100, 0]);
    assert_eq!(open.terminate(), Some(0));
}
