//! A later start costs no `initdb`.

use std::time::{Duration, Instant};

use svc_embedded::{Database, Options};

async fn timed(options: Options) -> (Duration, Database) {
    let begun = Instant::now();
    let database = Database::start(options).await.unwrap();
    (begun.elapsed(), database)
}

#[tokio::test]
#[allow(clippy::print_stdout, reason = "`--nocapture` shows the figures")]
async fn a_later_start_is_fast() {
    let root = tempfile::tempdir().unwrap();
    let (first, database) = timed(Options::new(root.path()).initdb_cache(None)).await;
    let (shared, guest) = timed(Options::new(root.path())).await;
    guest.stop().await;
    let begun = Instant::now();
    database.stop().await;
    let stop = begun.elapsed();
    // The least of several, as other tests run beside.
    let (mut later, mut tries) = (Duration::MAX, 0);
    while tries < 3 || later >= first && tries < 10 {
        let (took, database) = timed(Options::new(root.path())).await;
        later = later.min(took);
        tries += 1;
        database.stop().await;
    }
    println!("first {first:?}, later {later:?}, shared {shared:?}, stop {stop:?}");
    assert!(
        later < first,
        "a later start took {later:?}, the first one {first:?}"
    );
}
