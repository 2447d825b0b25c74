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
use crate::request_id::RequestId;

/// The longest that anyone waits for events to be written.
const LONGEST_FLUSH: Duration = Duration::from_secs(3_600);

/// A security log; cheap to clone. [`get_security_logger`](super::get_security_logger) is that of the process.
///
/// Events are written in the order in which they are logged, also where the file cannot be written for a while: they wait
/// in memory, up to 4 MiB of them. Those beyond are lost, and a line of the type `system.events_lost` counts them. The
/// file is opened again when its path leads to another one, as after a rotation.
#[derive(Debug, Clone)]
pub struct SecurityLogger(Arc<[Sink]>);

/// An output, and the lines that wait for it.
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
    /// The bytes that wait to be written.
    pub waiting: usize,
    /// The lines that were lost since the start, as they could not be written for too long.
    pub lost: u64,
    /// Why an output cannot be written at the moment; `None` where all can.
    pub failure: Option<String>,
}

impl SecurityLogger {
    /// A log of its own. Its threads and its file are made for the first event.
    pub fn new(config: SecurityLogConfig) -> Self {
        let outputs = config.path.map(Output::File).into_iter().chain(config.stdout.then_some(Output::Stdout));
        Self(outputs.map(|output| Sink { output, queue: Arc::default(), writer: Mutex::default() }).collect())
    }

    /// Logs an event. It is an event of `tracing` with the target `svc::security` as well.
    pub fn log_event(&self, mut event: SecurityEvent) {
        if event.request_id.is_none() {
            event.request_id = RequestId::current().map(|id| id.as_str().to_owned());
        }
        trace(&event);
        if self.0.is_empty() {
            return;
        }
        let (time, fields) = (Utc::now(), line::fields(&event));
        for sink in self.0.iter() {
            sink.queue.push(time, &fields);
            sink.start();
        }
    }

    /// Logs that somebody has logged in.
    pub fn log_auth_success(&self, user_id: &str, user_email: Option<&str>, metadata: Map<String, Value>) {
        let event = SecurityEvent::new(SecurityEventType::AuthSuccess).user_id(user_id);
        self.log_event(SecurityEvent { user_email: user_email.map(str::to_owned), metadata, ..event });
    }

    /// Logs that somebody could not log in. A name that was typed may be a password: give one only where it is known to
    /// be a name.
    pub fn log_auth_failure(
        &self,
        reason: &str,
        ip_address: Option<IpAddr>,
        attempted_username: Option<&str>,
        metadata: Map<String, Value>,
    ) {
        let event = SecurityEvent { ip_address, metadata, ..SecurityEvent::new(SecurityEventType::AuthFailure) };
        let event = event.reason(reason);
        let name = attempted_username.into_iter();
        self.log_event(name.fold(event, |event, name| event.metadata("attempted_username", name)));
    }

    /// Logs that somebody may not do something.
    pub fn log_authorization_denied(&self, user_id: Option<&str>, resource: &str, action: &str, reason: &str) {
        let event = SecurityEvent::new(SecurityEventType::AuthzDenied).resource(resource).action(action).reason(reason);
        self.log_event(SecurityEvent { user_id: user_id.map(str::to_owned), ..event });
    }

    /// Whether it is written to a file.
    pub(crate) fn writes_file(&self) -> bool {
        self.0.iter().any(|sink| matches!(sink.output, Output::File(_)))
    }

    /// Opens the file again, as for a SIGHUP.
    pub fn reopen(&self) {
        self.0.iter().for_each(Sink::reopen);
    }

    /// Waits until the events are written that were logged before, which blocks the thread; whether they are in time. It
    /// waits for an hour at most.
    pub fn flush(&self, patience: Duration) -> bool {
        let end = Instant::now() + patience.min(LONGEST_FLUSH);
        self.0.iter().all(|sink| sink.queue.flush(end))
    }

    /// Returns the state of the log.
    pub fn status(&self) -> SecurityLogStatus {
        let none = SecurityLogStatus { waiting: 0, lost: 0, failure: None };
        self.0.iter().map(|sink| sink.queue.standing()).fold(none, |sum, Standing { waiting, lost, failure }| {
            SecurityLogStatus {
                waiting: sum.waiting + waiting,
                lost: sum.lost + lost,
                failure: sum.failure.or(failure),
            }
        })
    }
}

impl Sink {
    /// Starts the thread, unless it runs. Where the system has none to give, the next event tries again.
    fn start(&self) {
        let mut writer = self.writer();
        if writer.is_none() {
            match Writer::start(self.queue.clone(), self.output.clone()) {
                Ok(started) => *writer = Some(started),
                Err(error) => self.queue.failed(format!("there is no thread to write: {error}")),
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

/// The last of the loggers lets the threads end.
impl Drop for Sink {
    fn drop(&mut self) {
        self.queue.close();
        self.reopen();
    }
}

/// The exceeded limits that the service's log shows.
static EXCEEDED: Burst = Burst::new();

/// Shows an event in the service's log.
fn trace(event: &SecurityEvent) {
    if event.event_type == SecurityEventType::RateLimitExceeded {
        let (is_shown, hidden) = EXCEEDED.shows(Instant::now());
        if hidden > 0 {
            tracing::warn!(target: "svc::security", hidden, "exceeded rate limits of the last minute are not shown");
        }
        if !is_shown {
            return;
        }
    }
    let metadata =
        || line::metadata(event).map(|metadata| tracing::field::display(serde_json::Value::Object(metadata)));
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
