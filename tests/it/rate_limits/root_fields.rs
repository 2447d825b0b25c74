//! Limits that stand at root fields: `invite` 2 in a minute, `report` 3 in an hour.

use std::time::Duration;

use super::service::{Clock, ask, flood, serve, wide};

const CLIENT: &str = "192.0.2.1";

#[tokio::test]
async fn a_root_field_has_a_limit_of_its_own() {
    let clock = Clock::new();
    let app = serve(wide(&clock)).await;
    assert_eq!(flood(&app, CLIENT, "mutation { invite }", 8).await, 2);
    assert_eq!(flood(&app, CLIENT, "mutation { ping }", 8).await, 8);
    assert_eq!(flood(&app, CLIENT, "{ report }", 8).await, 3);
    let refused = ask(&app, CLIENT, "{ hello report }").await;
    assert_eq!(
        (refused.status, refused.code()),
        (429, "RATE_LIMITED".to_owned())
    );
    assert_eq!(
        (
            &refused.headers["x-ratelimit-limit"],
            &refused.headers["x-ratelimit-window"]
        ),
        (&"3".parse().unwrap(), &"3600".parse().unwrap())
    );
    assert_eq!(flood(&app, "192.0.2.2", "{ report }", 8).await, 3);
    clock.advance(Duration::from_secs(120));
    assert_eq!(flood(&app, CLIENT, "mutation { invite }", 8).await, 2);
    assert_eq!(flood(&app, CLIENT, "{ report }", 8).await, 0);
}

/// Each selection of the field counts, under whatever name.
#[tokio::test]
async fn aliases_count_one_by_one() {
    let clock = Clock::new();
    let app = serve(wide(&clock)).await;
    assert_eq!(
        ask(&app, CLIENT, "mutation { a: invite b: invite c: invite }")
            .await
            .status,
        429
    );
    assert_eq!(
        ask(&app, CLIENT, "mutation { a: invite b: invite }")
            .await
            .status,
        200
    );
    assert_eq!(ask(&app, CLIENT, "mutation { invite }").await.status, 429);
    let fragments = "query Q { ...f ...g } fragment f on Query { a: report } fragment g on Query { b: report c: report }";
    assert_eq!(ask(&app, CLIENT, fragments).await.status, 200);
    assert_eq!(ask(&app, CLIENT, "{ report }").await.status, 429);
}

#[tokio::test]
async fn fields_below_the_query_of_a_result_count_too() {
    let clock = Clock::new();
    let app = serve(wide(&clock)).await;
    let document = "mutation { a: inquire { ...read } b: inquire { ...read } }
        fragment read on AskSuccess { query { hello report } }";
    let reply = ask(&app, CLIENT, document).await;
    assert_eq!(reply.data()["b"]["query"]["report"], true);
    assert_eq!(ask(&app, CLIENT, document).await.status, 429);
    assert_eq!(flood(&app, CLIENT, "{ report }", 8).await, 1);
}
