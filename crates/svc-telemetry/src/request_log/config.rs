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
        /// Format of the log on standard error, unless the program installs a `tracing` subscriber.
        format: LogFormat = LogFormat::Text, ["SVC_LOG_FORMAT"], Parsed("text or json");
        /// Logs each request.
        requests: bool = false, ["SVC_LOG_REQUESTS"], Flag;
        /// Includes the identifiers of users in the log of requests.
        users: bool = false, ["SVC_LOG_USERS"], Flag;
        /// Duration from which an operation counts as slow and is logged as a warning, with its
        /// statements.
        slow_operation: Option<Duration> = None, ["SVC_SLOW_OPERATION"], or_never(Milliseconds(0..=86_400_000));
    }
}

/// The format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LogFormat {
    /// Readable text.
    #[default]
    Text,
    /// One JSON object per line.
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
