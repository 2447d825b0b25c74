//! Connections: for how long they may be open, and how many of them.

mod bounds;
mod half_closed;
mod http1;
mod http2;
mod pipelined;
mod settings;
mod shapes;
mod slow_clients;
mod stop;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use svc::axum::Router;
use svc::prelude::*;
use svc_tests::TestDatabase;
use svc_tests::raw::{Client, PATIENCE};
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

/// The number of answers of `large` that the server holds.
#[derive(Clone, Default)]
struct Held(Arc<AtomicUsize>);

impl Held {
    fn now(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// Waits until none is.
    async fn is_gone(&self) {
        svc_tests::eventually(async || {
            if self.now() == 0 {
                Ok(())
            } else {
                Err("held".to_owned())
            }
        })
        .await;
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
#[derive(Default)]
pub(crate) struct Turns {
    last: Option<Instant>,
    longest: Duration,
}

impl Turns {
    /// The client takes its turn.
    pub(crate) fn take(&mut self) {
        if let Some(last) = self.last.replace(Instant::now()) {
            self.longest = self.longest.max(last.elapsed());
        }
    }
}

/// A steady client is served to the end; tries again where the machine has stood still for so long.
pub(crate) async fn steadily<T>(
    still: Duration,
    attempt: impl AsyncFn(&mut Turns) -> Result<T, String>,
) -> T {
    for _ in 0..10 {
        // The turns of the client, if it takes some, and those of the thread on which client and
        // server run.
        let (mut turns, mut beats) = (Turns::default(), Turns::default());
        beats.take();
        let ended = {
            let mut ending = pin!(attempt(&mut turns));
            loop {
                match timeout(Duration::from_millis(20), &mut ending).await {
                    Ok(ended) => break ended,
                    Err(_) => beats.take(),
                }
            }
        };
        turns.take();
        beats.take();
        match ended {
            Ok(value) => return value,
            Err(error) => assert!(turns.longest.max(beats.longest) > still, "{error}"),
        }
    }
    panic!("the machine stood still in each of ten tries");
}

/// Sends bytes and reads the answer; an error where the connection was closed before it came.
pub(super) async fn answered(client: &mut Client, text: &str) -> Result<String, String> {
    client
        .0
        .write_all(text.as_bytes())
        .await
        .map_err(|error| error.to_string())?;
    match timeout(PATIENCE, client.0.peek(&mut [0]))
        .await
        .expect("no answer in time")
    {
        Ok(0) => Err("the connection was closed".to_owned()),
        Ok(_) => Ok(client.answer().await),
        Err(error) => Err(error.to_string()),
    }
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
    let url = TestDatabase::empty().await;
    let options = AppOptions::new()
        .database_url(url)
        .queries(queries![hello, slow, never]);
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
