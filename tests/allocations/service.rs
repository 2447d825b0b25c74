//! A service on one thread, whose allocations are counted.

use std::io;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use svc::{AppOptions, Server, create_svc_app};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tracing_subscriber::EnvFilter;

use crate::allocator::count_this_thread;
use crate::counter::Counter;

/// A service that runs until the value is dropped.
///
/// It has a thread and a runtime to itself, so that the thread's allocations are those of the
/// server: its connections, requests and background tasks. Clients run on other threads.
#[derive(Debug)]
pub(crate) struct Service {
    address: SocketAddr,
    counter: &'static Counter,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    /// Starts a service on a free port.
    pub(crate) fn start(options: impl FnOnce() -> AppOptions + Send + 'static) -> Self {
        discard_log();
        // The allocator refers to it for as long as the thread lives.
        let counter: &'static Counter = Box::leak(Box::default());
        let (started, address) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();

        let thread = thread::spawn(move || {
            let runtime = runtime(counter);
            count_this_thread(counter);
            runtime.block_on(async move {
                let app = create_svc_app(options()).await.expect("the application");
                let server = Server::bind(([127, 0, 0, 1], 0))
                    .await
                    .expect("a free port");
                started
                    .send(server.local_addr())
                    .expect("a test that waits");
                server
                    .run(app, async { stopped.await.unwrap_or_default() })
                    .await;
            });
        });

        Self {
            address: address.recv().expect("a service that starts"),
            counter,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Returns the bound address.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the counter of the server's allocations.
    pub(crate) fn counter(&self) -> &'static Counter {
        self.counter
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // A server that has ended needs no stop.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Returns a runtime that runs everything on its thread, and records whether the thread is idle.
fn runtime(counter: &'static Counter) -> Runtime {
    Builder::new_current_thread()
        .enable_all()
        .on_thread_park(move || counter.set_idle(true))
        .on_thread_unpark(move || counter.set_idle(false))
        .build()
        .expect("a runtime")
}

/// Formats the log like a service with its default settings, and writes it nowhere.
///
/// `RUST_LOG` and the search of the harness for secrets would change the counts.
pub(crate) fn discard_log() {
    // An error means that another test was first.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new("info,h2=error"))
        .with_ansi(false)
        .with_writer(io::sink)
        .try_init();
}
