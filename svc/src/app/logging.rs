//! The log of programs that set up none.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt as _;

/// h2 warns of each frame that a client makes up, as often as the client likes.
const DEFAULT: &str = "info,h2=error";

/// Logs to standard error, unless the program has a subscriber already.
pub(super) fn init() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT));
    let colors = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    // An error means that there is a subscriber, which is then the one to keep.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colors)
        .finish()
        .try_init();
}
