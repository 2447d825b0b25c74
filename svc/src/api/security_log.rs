//! The security log: logins, denied requests and exceeded limits, as lines of JSON.
//!
//! The service writes its own events where they happen; [`get_security_logger`] is for events of
//! the program. For its request, an event only costs adding a line to a queue. A thread writes the
//! queue to the file of `SVC_SECURITY_LOG_PATH`, to standard output, or to both. No request ever
//! waits for the log or fails because of it.

#[doc(inline)]
pub use svc_telemetry::security_log::{
    SecurityEvent, SecurityEventType, SecurityLogConfig, SecurityLogStatus, SecurityLogger,
    SecuritySeverity, get_security_logger, init_security_logger,
};
