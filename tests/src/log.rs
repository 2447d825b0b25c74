//! The log of the tests.

use std::sync::Once;

use svc::SecurityLogConfig;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, fmt, registry};

use crate::written;

/// Has the log captured with the output of each test, so that only those of failing tests are
/// shown. `RUST_LOG` chooses what is logged. Everything is searched for secrets, whatever it
/// chooses.
///
/// A program's own log would go to standard error, and so into the output of all tests.
///
/// The first call is what counts. Each further subscriber, even one that is not used, would have
/// tracing ask about all places that log.
pub fn capture() {
    static CAPTURED: Once = Once::new();
    CAPTURED.call_once(set_up);
}

fn set_up() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let shown = fmt::layer()
        .with_test_writer()
        .with_ansi(false)
        .with_filter(filter);
    // A test of the security log has set up its own before.
    svc::init_security_logger(SecurityLogConfig {
        path: None,
        stdout: false,
    });
    // An error means that the program has a subscriber already.
    let _ = registry().with(shown).with(written::layer()).try_init();
}
