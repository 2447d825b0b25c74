//! The settings of the security log.

use std::path::PathBuf;

use svc_core::settings::{Flag, Kind, settings};

settings! {
    /// The settings of the security log; the field `security_log` of `SvcConfig`.
    ///
    /// ```
    /// use svc::SecurityLogConfig;
    /// use svc::security_log::SecurityLogger;
    ///
    /// let log = SecurityLogger::new(SecurityLogConfig { path: None, stdout: true });
    /// # drop(log);
    /// ```
    pub struct SecurityLogConfig {
        /// File for security events, one JSON object per line. It is created for the first event.
        path: Option<PathBuf> = Some(PathBuf::from("security_events.log")), ["SVC_SECURITY_LOG_PATH"], PathOrNone;
        /// Writes security events to standard output.
        stdout: bool = false, ["SVC_SECURITY_LOG_STDOUT"], Flag;
    }
}

/// A path, or the word none.
struct PathOrNone;

impl Kind<Option<PathBuf>> for PathOrNone {
    fn parse(&self, text: &str) -> Result<Option<PathBuf>, String> {
        Ok((!text.eq_ignore_ascii_case("none")).then(|| text.into()))
    }

    fn allowed(&self) -> String {
        "a path, or the word none".to_owned()
    }

    fn shown(&self, value: &Option<PathBuf>) -> String {
        value
            .as_ref()
            .map_or_else(|| "none".to_owned(), |path| path.display().to_string())
    }
}
