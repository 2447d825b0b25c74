//! Security events of rejected requests. Of the keys of clients, only user identifiers are logged,
//! as other keys may be secrets.

use std::net::IpAddr;

use super::client::Client;
use super::response::Refusal;
use svc_engine::request::PreparedOperation;
use svc_telemetry::security_log::{SecurityEvent, SecurityEventType, record};

/// The origin of a request: the client's address and the requested path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'a> {
    pub(super) address: Option<IpAddr>,
    pub(super) path: &'a str,
}

/// Logs that a limit was exceeded.
pub(super) fn exceeded(
    origin: Origin<'_>,
    client: &Client,
    refusal: &Refusal,
    operation: Option<&PreparedOperation<'_>>,
) {
    let Refusal::Limited { limit, window, .. } = refusal else {
        return;
    };

    let event = event(SecurityEventType::RateLimitExceeded, origin, client);
    let event = event.metadata("limit", *limit).metadata("window", *window);
    record(match operation {
        Some(operation) => {
            let event = event.metadata("operation_type", operation.kind.as_str());
            let event = event.metadata("complexity", operation.complexity);
            (operation.name)()
                .into_iter()
                .fold(event, |event, name| event.metadata("operation_name", name))
        }
        None => event,
    });
}

/// Logs a request of a client on the blacklist.
pub(super) fn refused(origin: Origin<'_>, client: &Client) {
    record(event(SecurityEventType::RateLimitRefused, origin, client));
}

fn event(event_type: SecurityEventType, origin: Origin<'_>, client: &Client) -> SecurityEvent {
    let user_id = match client {
        Client::User(id) => Some(id.clone()),
        _ => None,
    };

    let mut event = SecurityEvent::new(event_type).resource(origin.path);
    event.ip_address = origin.address;
    event.user_id = user_id;
    event
}
