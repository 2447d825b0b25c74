//! Field errors, reported beside `data` with a path.

use std::borrow::Cow;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::path::{Path, Segment};
use crate::graphql::plan::PlanField;
use svc_core::error::{ErrorLocation, Origin};
use svc_core::{Error, ErrorCode};
use svc_telemetry::error_tracker::is_tracking;

/// The message of masked errors.
const MASKED: &str = "internal server error";

/// An error of the execution.
#[derive(Debug)]
pub struct FieldError {
    pub(crate) code: Cow<'static, str>,
    pub(crate) message: Cow<'static, str>,
    pub(crate) path: Vec<Segment>,
    /// The offsets of the field in the document.
    pub(crate) offsets: Vec<usize>,
    pub(crate) extensions: Map<String, Value>,
    pub(in crate::graphql) logged: Option<Logged>,
    /// The field with its type, such as `Query.users`.
    pub(in crate::graphql) field: String,
    pub(in crate::graphql) origin: Origin,
    /// Whether it is the error of a query after a mutation.
    pub(in crate::graphql) is_after_mutation: bool,
}

/// The part of an error that goes only to the log.
#[derive(Debug)]
pub(in crate::graphql) struct Logged {
    /// The message and its causes.
    pub(in crate::graphql) chain: String,
    /// Whether the client gets no message.
    pub(in crate::graphql) masked: bool,
    /// Whether the client gets an `errorId`.
    pub(super) tells_id: bool,
    /// The `errorId` of its log line, once the line is written.
    pub(in crate::graphql) id: Option<Uuid>,
    /// The SQLSTATE of an error of PostgreSQL, as `SQLSTATE 22012`.
    pub(super) sqlstate: Option<String>,
    /// The place where it was raised, for the error tracker; `None` without an error tracker.
    pub(in crate::graphql) raised: Option<ErrorLocation>,
}

impl FieldError {
    /// Converts an error of a resolver, with only the parts that the client may see;
    /// the report of the request logs the rest.
    #[cold]
    pub(crate) fn new(error: &Error, field: &PlanField, path: &Path<'_>) -> Self {
        let masked = error.is_masked();
        let message = if masked {
            Cow::Borrowed(MASKED)
        } else {
            Cow::Owned(error.message().to_owned())
        };

        let is_logged = masked || error.source().is_some();
        let raised = is_tracking().then(|| error.raised().clone());
        let sqlstate = || {
            Some(error.raised().kind.as_ref())
                .filter(|kind| kind.starts_with("SQLSTATE "))
                .map(str::to_owned)
        };

        let logged = || Logged {
            chain: error.chain(),
            masked,
            tells_id: masked,
            id: None,
            sqlstate: sqlstate(),
            raised,
        };

        Self {
            code: Cow::Owned(error.code().to_owned()),
            message,
            path: path.segments(),
            offsets: field.offsets.clone(),
            extensions: error.extensions().clone(),
            logged: is_logged.then(logged),
            field: field.coordinate.clone(),
            origin: error.origin(),
            is_after_mutation: false,
        }
    }

    /// The error of a value from `place` that breaks its declared type. The client gets the message
    /// if `sees` is set.
    pub(crate) fn value(
        message: String,
        place: &str,
        sees: bool,
        field: &PlanField,
        path: &Path<'_>,
    ) -> Self {
        let chain = format!("{}: {message} ({place})", field.coordinate);
        let raised = is_tracking().then(|| ErrorLocation::nowhere("a stored value"));
        Self {
            code: Cow::Borrowed(ErrorCode::InternalServerError.as_str()),
            message: if sees {
                Cow::Owned(message)
            } else {
                Cow::Borrowed(MASKED)
            },
            path: path.segments(),
            offsets: field.offsets.clone(),
            extensions: Map::new(),
            logged: Some(Logged {
                chain,
                masked: !sees,
                tells_id: true,
                id: None,
                sqlstate: None,
                raised,
            }),
            field: field.coordinate.clone(),
            origin: Origin::Other,
            is_after_mutation: false,
        }
    }

    /// Records the `errorId` of the log line, and adds it to the response if `tells_id` is set.
    pub(in crate::graphql) fn set_id(&mut self, id: Uuid) {
        let Some(logged) = &mut self.logged else {
            return;
        };
        logged.id = Some(id);
        if logged.tells_id {
            self.extensions
                .insert("errorId".to_owned(), id.to_string().into());
        }
    }

    /// Adds the SQLSTATE of a masked PostgreSQL error to the response, for developers.
    pub(in crate::graphql) fn tell_sqlstate(&mut self) {
        let sqlstate = self
            .logged
            .as_ref()
            .filter(|logged| logged.masked)
            .and_then(|logged| logged.sqlstate.as_ref());

        if let Some(sqlstate) = sqlstate {
            let reason = format!("{sqlstate}; the log has the rest beside the `errorId`");
            self.extensions.insert("reason".to_owned(), reason.into());
        }
    }

    /// Whether the client gets an `errorId` in place of the message.
    pub(crate) fn is_masked(&self) -> bool {
        self.logged.as_ref().is_some_and(|logged| logged.masked)
    }

    /// Whether a client may retry the request after an error with this code.
    pub(crate) fn invites_retry(&self) -> bool {
        use ErrorCode::{InternalServerError, ServiceUnavailable, Timeout};
        [InternalServerError, ServiceUnavailable, Timeout]
            .iter()
            .any(|code| code.as_str() == self.code)
    }
}
