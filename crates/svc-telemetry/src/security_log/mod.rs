//! The security log: logins, denied requests and exceeded limits, as lines of JSON.

mod burst;
mod clients;
mod config;
mod event;
mod event_type;
mod file;
mod line;
mod logger;
mod queue;
mod writer;

use std::sync::OnceLock;

pub use config::SecurityLogConfig;
pub use event::SecurityEvent;
pub use event_type::{SecurityEventType, SecuritySeverity};
pub use logger::{SecurityLogStatus, SecurityLogger};

pub use clients::Clients;
#[cfg(feature = "logging")]
pub use line::one_line;

use svc_core::settings::{from_environment, use_group};

static PROCESS: OnceLock<SecurityLogger> = OnceLock::new();

/// Returns the security log of the process, which the service also writes its events to. Before an
/// application is created, the log is configured from the environment.
///
/// ```no_run
/// use svc::get_security_logger;
/// use svc::security_log::{SecurityEvent, SecurityEventType};
///
/// let event = SecurityEvent::new(SecurityEventType::ConfigChanged).user_id("ada").resource("price list");
/// get_security_logger().log_event(event);
/// ```
pub fn get_security_logger() -> SecurityLogger {
    let of_environment = || {
        from_environment::<SecurityLogConfig>().unwrap_or_else(|error| {
            tracing::warn!(%error, "invalid settings of the security log; using its defaults");
            SecurityLogConfig::default()
        })
    };
    PROCESS.get_or_init(|| made(of_environment())).clone()
}

/// Sets up the security log of the process, unless that has been done, and returns it.
/// `create_svc_app` does so with the settings of the application.
pub fn init_security_logger(config: SecurityLogConfig) -> SecurityLogger {
    PROCESS.get_or_init(|| made(config)).clone()
}

/// Whether the security log of the process is set up.
pub fn is_set_up() -> bool {
    PROCESS.get().is_some()
}

fn made(config: SecurityLogConfig) -> SecurityLogger {
    use_group(&config);
    SecurityLogger::new(config)
}

/// Writes an event of the service.
pub fn record(event: SecurityEvent) {
    get_security_logger().log_event(event);
}
