//! The logger.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chrono::Utc;
use serde_json::{Map, Value};

use super::burst::Burst;
use super::queue::{Queue, Standing};
use super::writer::{Output, Writer};
use super::{SecurityEvent, SecurityEventType, SecurityLogConfig, SecuritySeverity, line};
use svc_core::request_id::RequestId;

/// The maximum time that [`SecurityLogger::flush`] waits.
const MAX_FLUSH: Duration = Duration::from_secs(3_600);

/// A security log; cheap to clone. [`get_security_logger`](super::get_security_logger) returns that
/// of the process.
///
/// Events are written in the order of logging, even if the file cannot be written for a while: they
/// wait in memory, up to 4 MiB of them. Further events are lost, and a line of the type
/// `system.events_lost` counts them. The file is opened again when its path refers to another one,
/// as after a rotation.
#[derive(Debug, Clone)]
pub struct SecurityLogger(Arc<[Sink]>);

/// An output, and the lines that wait to be written to it.
#[derive(Debug)]
struct Sink {
    output: Output,
    queue: Arc<Queue>,
    /// `None` until the first event.
    writer: Mutex<Option<Writer>>,
}

/// The state of a security log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecurityLogStatus {
    /// The number of bytes that wait to be written.
    pub waiting: usize,
    /// The number of lines lost since the start, as they could not be written for too long.
    pub lost: u64,
    /// The error of an output that cannot be written at the moment; `None` if all can.
    pub failure: Option<String>,
}

impl SecurityLogger {
    /// Creates a separate log. Its threads and its file are created with the first event.
    pub fn new(config: SecurityLogConfig) -> Self {
        let outputs = config
            .path
            .map(Output::File)
            .into_iter()
            .chain(config.stdout.then_some(Output::Stdout));

        Self(
            outputs
                .map(|output| Sink {
                    output,
                    queue: Arc::default(),
                    writer: Mutex::default(),
                })
                .collect(),
        )
    }

    /// Logs an event. It is also emitted as a `tracing` event with the target `svc::security`.
    pub fn log_event(&self, mut event: SecurityEvent) {
        if event.request_id.is_none() {
            event.request_id = RequestId::current().map(|id| id.as_str().to_owned());
        }

        trace(&event);
        if self.0.is_empty() {
            return;
        }

        // Serialized once for all outputs, and before a queue is locked.
        let (time, fields) = (Utc::now(), line::fields(&event));

        for sink in self.0.iter() {
            sink.queue.push(time, &fields);

            // After the line is queued: if no thread can be started, the line waits for the next
            // event.
            sink.start();
        }
    }

    /// Logs a successful login.
    pub fn log_auth_success(
        &self,
        user_id: &str,
        user_email: Option<&str>,
        metadata: Map<String, Value>,
    ) {
        let event = SecurityEvent::new(SecurityEventType::AuthSuccess).user_id(user_id);
        self.log_event(SecurityEvent {
            user_email: user_email.map(str::to_owned),
            metadata,
            ..event
        });
    }

    /// Logs a failed login. An entered name may be a password: pass it only if it is certain to be
    /// a name.
    pub fn log_auth_failure(
        &self,
        reason: &str,
        ip_address: Option<IpAddr>,
        attempted_username: Option<&str>,
        metadata: Map<String, Value>,
    ) {
        let event = SecurityEvent {
            ip_address,
            metadata,
            ..SecurityEvent::new(SecurityEventType::AuthFailure)
        };

        let event = event.reason(reason);
        let name = attempted_username.into_iter();
        self.log_event(name.fold(event, |event, name| {
            event.metadata("attempted_username", name)
        }));
    }

    /// Logs that a user was denied an action.
    pub fn log_authorization_denied(
        &self,
        user_id: Option<&str>,
        resource: &str,
        action: &str,
        reason: &str,
    ) {
        let event = SecurityEvent::new(SecurityEventType::AuthzDenied)
            .resource(resource)
            .action(action)
            .reason(reason);
        self.log_event(SecurityEvent {
            user_id: user_id.map(str::to_owned),
            ..event
        });
    }

    /// Whether the log is written to a file.
    #[doc(hidden)]
    pub fn writes_file(&self) -> bool {
        self.0
            .iter()
            .any(|sink| matches!(sink.output, Output::File(_)))
    }

    /// Opens the file again, as on SIGHUP.
    pub fn reopen(&self) {
        self.0.iter().for_each(Sink::reopen);
    }

    /// Waits until all events logged before are written, and returns whether they were written in
    /// time. Blocks the thread, for an hour at most.
    pub fn flush(&self, patience: Duration) -> bool {
        // An unbounded duration would overflow the `Instant`, which panics.
        let end = Instant::now() + patience.min(MAX_FLUSH);
        self.0.iter().all(|sink| sink.queue.flush(end))
    }

    /// Returns the state of the log.
    pub fn status(&self) -> SecurityLogStatus {
        let none = SecurityLogStatus {
            waiting: 0,
            lost: 0,
            failure: None,
        };

        self.0.iter().map(|sink| sink.queue.standing()).fold(
            none,
            |sum,
             Standing {
                 waiting,
                 lost,
                 failure,
             }| {
                SecurityLogStatus {
                    waiting: sum.waiting + waiting,
                    lost: sum.lost + lost,
                    failure: sum.failure.or(failure),
                }
            },
        )
    }
}

impl Sink {
    /// Starts the thread, unless it runs already. If the system cannot start one, the next event
    /// retries.
    fn start(&self) {
        let mut writer = self.writer();
        if writer.is_none() {
            match Writer::start(self.queue.clone(), self.output.clone()) {
                Ok(started) => *writer = Some(started),
                Err(error) => self
                    .queue
                    .failed(format!("there is no thread to write: {error}")),
            }
        }
    }

    fn reopen(&self) {
        if let Some(writer) = &*self.writer() {
            writer.reopen();
        }
    }

    fn writer(&self) -> MutexGuard<'_, Option<Writer>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Dropping the last logger stops the threads.
impl Drop for Sink {
    fn drop(&mut self) {
        self.queue.close();

        // Wakes a thread that pauses between two attempts, so that it sees the end of the queue.
        self.reopen();
    }
}

/// Bounds the exceeded limits in the service's log.
static EXCEEDED: Burst = Burst::new();

/// Emits an event to the service's log.
fn trace(event: &SecurityEvent) {
    if event.event_type == SecurityEventType::RateLimitExceeded {
        let (is_shown, hidden) = EXCEEDED.shows(Instant::now());
        if hidden > 0 {
            tracing::warn!(
                target: "svc::security",
                hidden,
                "suppressed log lines about exceeded rate limits of the last minute"
            );
        }
        if !is_shown {
            return;
        }
    }

    let metadata = || {
        line::metadata(event)
            .map(|metadata| tracing::field::display(serde_json::Value::Object(metadata)))
    };

    macro_rules! at {
        ($level:ident) => {
            tracing::$level!(
                target: "svc::security",
                event_type = event.event_type.as_str(),
                reason = event.reason.as_deref().map(line::cut),
                user_id = event.user_id.as_deref().map(line::cut),
                ip_address = event.ip_address.map(tracing::field::display),
                request_id = event.request_id,
                resource = event.resource.as_deref().map(line::cut),
                action = event.action.as_deref().map(line::cut),
                metadata = metadata(),
            )
        };
    }

    match event.severity {
        SecuritySeverity::Info => at!(info),
        SecuritySeverity::Warning => at!(warn),
        SecuritySeverity::Error | SecuritySeverity::Critical => at!(error),
    }
}
