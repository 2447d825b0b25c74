//! The security events of a request: denials, exceeded limits and panics.

use serde_json::Value;

use crate::graphql::context::ExecutionContext;
use crate::graphql::response::{Answer, FieldError, Response};
use crate::request::RequestParts;
use crate::shared_state::SharedState;
use svc_core::ErrorCode;
use svc_core::error::{Denied, Origin};
use svc_core::schema::OperationKind;
use svc_telemetry::security_log::{SecurityEventType, record};

/// The maximum number of events for the errors of a request; the last event counts the remaining
/// errors.
const EVENTS: usize = 20;

/// The part of an error that is a security event.
#[derive(PartialEq)]
struct Finding<'a> {
    event_type: SecurityEventType,
    field: &'a str,
    reason: &'a str,
    code: &'a str,
    action: OperationKind,
}

/// Records the field errors that are security events, equal ones once.
pub(in crate::graphql) fn record_errors<'e>(
    cx: &ExecutionContext<'_>,
    errors: impl IntoIterator<Item = &'e FieldError>,
) {
    let mut findings: Vec<(Finding<'_>, usize, &FieldError)> = Vec::new();
    let mut more = 0;
    for error in errors {
        let Some(finding) = Finding::of(error, cx.operation.kind) else {
            continue;
        };
        match findings.iter().position(|(known, ..)| *known == finding) {
            Some(at) => findings[at].1 += 1,
            None if findings.len() < EVENTS => findings.push((finding, 1, error)),
            None => more += 1,
        }
    }

    let last = findings.len().saturating_sub(1);

    for (index, (finding, times, error)) in findings.into_iter().enumerate() {
        let event = cx
            .context
            .request
            .parts()
            .security_event(&cx.context.db().app.clients, finding.event_type);

        let event = event
            .resource(finding.field)
            .action(finding.action.as_str())
            .reason(finding.reason);
        let numbers = [
            ("times", times, times > 1),
            ("more", more, more > 0 && index == last),
        ];
        let event = numbers.into_iter().filter(|(.., is_told)| *is_told).fold(
            event.metadata("code", finding.code),
            |event, (name, number, _)| event.metadata(name, number),
        );
        let id = error.logged.as_ref().and_then(|logged| logged.id);

        record(id.into_iter().fold(event, |event, id| {
            event.metadata("error_id", id.to_string())
        }));
    }
}

impl<'a> Finding<'a> {
    /// The finding of an error in an operation of this kind.
    fn of(error: &'a FieldError, kind: OperationKind) -> Option<Self> {
        let logged = error.logged.as_ref();
        let event_type = match error.origin {
            Origin::Gate(Denied::ByGuard) => SecurityEventType::AuthPermissionDenied,
            Origin::Gate(Denied::ByAuthorizer) => SecurityEventType::AuthzDenied,
            Origin::Gate(Denied::Field) => SecurityEventType::AuthzFieldDenied,
            Origin::Panic => SecurityEventType::SystemPanic,
            Origin::Other if error.code == ErrorCode::Timeout.as_str() => {
                SecurityEventType::QueryTimeout
            }
            Origin::Other if error.code == ErrorCode::QueryTooLarge.as_str() => {
                SecurityEventType::QuerySizeExceeded
            }
            Origin::Other | Origin::Passing => return None,
        };

        // Another field may reveal a gated field, as a filter does.
        let gated = error.extensions.get("field").and_then(Value::as_str);
        let field = gated
            .filter(|_| event_type == SecurityEventType::AuthzFieldDenied)
            .unwrap_or(&error.field);
        let reason = logged.map_or(&*error.message, |logged| &logged.chain);
        let action = match error.is_after_mutation {
            true => OperationKind::Query,
            false => kind,
        };

        Some(Self {
            event_type,
            field,
            reason,
            code: &error.code,
            action,
        })
    }
}

/// Records that an operation exceeds a limit, if it was rejected for that.
#[cold]
pub(in crate::graphql) fn record_refused(
    app: &SharedState,
    parts: &RequestParts,
    refused: &Response,
) {
    let Answer::Refused(code) = refused.answer else {
        return;
    };

    let event_type = match code {
        ErrorCode::QueryTooDeep => SecurityEventType::QueryDepthExceeded,
        ErrorCode::QueryTooComplex => SecurityEventType::QueryComplexityExceeded,
        ErrorCode::QueryTooLarge => SecurityEventType::QuerySizeExceeded,
        _ => return,
    };

    let event = parts
        .security_event(&app.clients, event_type)
        .metadata("code", code.as_str());
    let message = first_message(&refused.body);

    record(
        message
            .into_iter()
            .fold(event, |event, message| event.reason(message)),
    );
}

/// Records that an operation was stopped at its deadline.
#[cold]
pub(in crate::graphql) fn record_late(app: &SharedState, parts: &RequestParts) {
    let event = parts.security_event(&app.clients, SecurityEventType::QueryTimeout);
    record(event.reason(format!(
        "the request took longer than {} seconds",
        app.request_limit().as_secs()
    )));
}

/// The first message of a response without data.
fn first_message(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    body.pointer("/errors/0/message")?
        .as_str()
        .map(str::to_owned)
}
