//! The settings of the log.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use svc_core::settings::{Flag, Milliseconds, Parsed, or_never, settings};

settings! {
    /// The settings of the log; the field `log` of `SvcConfig`.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use svc::{LogConfig, SvcConfig};
    ///
    /// let log = LogConfig { requests: true, slow_operation: Some(Duration::from_millis(500)), ..LogConfig::default() };
    /// let config = SvcConfig { log, ..SvcConfig::default() };
    /// ```
    pub struct LogConfig {
        /// The form of the lines on standard error, where the program has no `tracing` subscriber
        /// of its own.
        format: LogFormat = LogFormat::Text, ["SVC_LOG_FORMAT"], Parsed("text or json");
        /// Whether each request is a line.
        requests: bool = false, ["SVC_LOG_REQUESTS"], Flag;
        /// Whether those lines have the identifiers of users.
        users: bool = false, ["SVC_LOG_USERS"], Flag;
        /// The time from which an operation is slow, so that a line warns of it and of its
        /// statements.
        slow_operation: Option<Duration> = None, ["SVC_SLOW_OPERATION"], or_never(Milliseconds(0..=86_400_000));
    }
}

/// The form of the lines of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// Lines of one JSON object each.
    Json,
}

impl FromStr for LogFormat {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.to_ascii_lowercase().as_str() {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(()),
        }
    }
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Json => "json",
        })
    }
}
