//! The log of the tests.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Has the log captured with the output of each test, so that only those of failing tests are shown. `RUST_LOG` chooses
/// what is logged.
///
/// A program's own log would go to standard error, and so into the output of all tests.
pub fn capture() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    // An error means that another test was first.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_test_writer().with_ansi(false).finish().try_init();
}
