//! The PostgreSQL server that a program's tests share.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

use svc_core::settings::variable;
use svc_core::{Error, Result};

/// The variable with the URL of a server on which tests may create databases.
const VARIABLE: &str = "SVC_TEST_DATABASE_URL";

/// The PostgreSQL server of a test program, and the runtime of tasks that outlive the runtimes of
/// single tests.
pub(super) struct Server {
    pub(super) url: String,
    pub(super) runtime: Runtime,
    /// Whether it outlives the program, so that a database can be inspected later.
    pub(super) stays: bool,
    #[cfg(feature = "embedded")]
    _embedded: Option<svc_embedded::Database>,
}

/// Returns the server, starting an embedded one if the variable is not set. Blocks until the server
/// is ready.
pub(super) fn server() -> Result<&'static Server> {
    static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();

    // A static is never dropped: the embedded server is stopped by a signal when the program ends.
    let server = SERVER.get_or_init(|| Server::find().map_err(|error| error.message().to_owned()));
    server
        .as_ref()
        .map_err(|message| Error::internal(message.clone()))
}

impl Server {
    fn find() -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("svc-test")
            .enable_all()
            .build()?;

        match variable(VARIABLE).filter(|url| !url.is_empty()) {
            Some(url) => Ok(Self {
                url,
                runtime,
                stays: true,
                #[cfg(feature = "embedded")]
                _embedded: None,
            }),
            None => Self::start(runtime),
        }
    }

    #[cfg(feature = "embedded")]
    fn start(runtime: Runtime) -> Result<Self> {
        // Each concurrently running test has a service with its own pool.
        let tests = std::thread::available_parallelism().map_or(8, usize::from);
        let connections = u32::try_from(tests)
            .unwrap_or(64)
            .saturating_mul(20)
            .clamp(200, 2_000);

        // Tables are small, but their statements look costly: compiling one takes a second, and
        // running it a millisecond.
        let options = svc_embedded::Options::temporary()
            .max_connections(connections)
            .setting("jit", "off");
        let started = runtime.block_on(svc_embedded::Database::start(options));
        let embedded = started.map_err(|error| {
            Error::internal(format!(
                "the PostgreSQL of the tests does not start: {error}; or name one by {VARIABLE}"
            ))
        })?;

        Ok(Self {
            url: embedded.url(),
            runtime,
            stays: false,
            _embedded: Some(embedded),
        })
    }

    #[cfg(not(feature = "embedded"))]
    fn start(_: Runtime) -> Result<Self> {
        Err(Error::internal(format!(
            "tests need a PostgreSQL: name one by {VARIABLE}, as postgres://user:password@host:port/postgres, or turn on \
             the feature `embedded` of svc"
        )))
    }
}
