//! Connections: for how long they may be open, and how many of them.

mod bounds;
mod half_closed;
mod http1;
mod http2;
mod settings;
mod shapes;
mod slow_clients;
mod stop;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use svc::axum::Router;
use svc::prelude::*;
use svc_tests::TestDatabase;

/// The number of answers of `large` that the server holds.
#[derive(Clone, Default)]
struct Held(Arc<AtomicUsize>);

impl Held {
    fn now(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// Waits until none is.
    async fn is_gone(&self) {
        svc_tests::eventually(async || if self.now() == 0 { Ok(()) } else { Err("held".to_owned()) }).await;
    }
}

/// A body of 32 MB that is counted while it is there.
struct Counted(Vec<u8>, Held);

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The turns of a client that is steady unless the machine stands still.
struct Turns {
    last: Instant,
    longest: Duration,
}

impl Turns {
    /// The client takes its turn.
    fn take(&mut self) {
        self.longest = self.longest.max(self.last.elapsed());
        self.last = Instant::now();
    }
}

/// A steady client is served to the end; tries again where the machine has stood still for so long.
async fn steadily(still: Duration, attempt: impl AsyncFn(&mut Turns) -> Result<(), String>) {
    for _ in 0..10 {
        let mut turns = Turns { last: Instant::now(), longest: Duration::ZERO };
        let ended = attempt(&mut turns).await;
        turns.take();
        match ended {
            Ok(()) => return,
            Err(error) => assert!(turns.longest > still, "{error}"),
        }
    }
    panic!("the machine stood still in each of ten tries");
}

#[svc::query]
fn hello() -> &'static str {
    "world"
}

#[svc::query]
async fn slow() -> bool {
    tokio::time::sleep(Duration::from_millis(600)).await;
    true
}

#[svc::query]
async fn never() -> bool {
    std::future::pending().await
}

async fn router() -> (Router, Held) {
    let database = TestDatabase::new("").await;
    let options = AppOptions::new().database_url(database.url()).queries(queries![hello, slow, never]);
    let held = Held::default();
    let counted = held.clone();
    let large = move || {
        counted.0.fetch_add(1, Ordering::SeqCst);
        let bytes = Counted(vec![b'x'; 32_000_000], counted.clone());
        async { svc::axum::body::Body::from(svc::axum::body::Bytes::from_owner(bytes)) }
    };
    let app = create_svc_app(options).await.unwrap();
    (app.route("/large", svc::axum::routing::get(large)), held)
}

const HELLO: &str = r#"{"query":"{ hello }"}"#;
const SLOW: &str = r#"{"query":"{ slow }"}"#;
const NEVER: &str = r#"{"query":"{ never }"}"#;
