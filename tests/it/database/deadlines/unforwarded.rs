//! A network that passes nothing on, or hardly anything.

use std::time::Duration;

use futures_util::future::join_all;
use svc_tests::{App, Flow, Proxy, TestDatabase};

use super::{KINDS, SQL, all_in_time, options, timed, until_well, warm};

async fn serve() -> (TestDatabase, Proxy, App) {
    let (database, proxy) = (TestDatabase::new(SQL).await, Proxy::new().await);
    let app = App::serve(options(&proxy.url(&database))).await;
    warm(&app).await;
    (database, proxy, app)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_network_blocks_no_request() {
    let (_database, proxy, app) = serve().await;
    proxy.set(Flow::Stopped);
    let writes = join_all([0; 2].map(|_| timed(&app, "mutation { add(name: \"lost\") }")));
    let (reads, writes) = tokio::join!(
        join_all(KINDS.iter().map(|query| timed(&app, query))),
        writes
    );
    all_in_time(&reads);
    all_in_time(&writes);
    assert!(
        reads
            .iter()
            .all(|(reply, _)| reply.json().get("errors").is_some())
    );
    let (ready, ()) = tokio::join!(app.get("/ready"), async {});
    assert_eq!(ready.status, 503);
    proxy.set(Flow::Free);
    until_well(&app).await;
    app.until_ready().await;
}

/// A disconnected client leaves a statement that cannot even be cancelled.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_is_freed_although_its_statement_cannot_be_cancelled() {
    let (_database, proxy, app) = serve().await;
    proxy.set(Flow::Stopped);
    let gone = join_all(
        [0; 3].map(|_| tokio::time::timeout(Duration::from_millis(100), app.query(KINDS[0]))),
    );
    assert!(gone.await.iter().all(Result::is_err));
    // New connections would be accepted, and not answered.
    proxy.set(Flow::Free);
    until_well(&app).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trickling_database_answer_ends_at_the_deadline() {
    let (_database, proxy, app) = serve().await;
    proxy.set(Flow::Slow(Duration::from_secs(1)));
    let answers = join_all(KINDS.iter().map(|query| timed(&app, query))).await;
    all_in_time(&answers);
    assert!(
        answers[..4]
            .iter()
            .all(|(reply, _)| reply.json().get("errors").is_some())
    );
    proxy.set(Flow::Free);
    until_well(&app).await;
}
