//! Errors of single fields: they stand beside `data`, with a path.

use std::borrow::Cow;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::path::{Path, Segment};
use super::plan::PlanField;
use crate::error::{Origin, Raised};
use crate::error_tracker::is_tracking;
use crate::{Error, ErrorCode};

/// The message of errors that clients do not see.
const MASKED: &str = "internal server error";

/// One error of the execution.
#[derive(Debug)]
pub(crate) struct FieldError {
    pub(crate) code: Cow<'static, str>,
    pub(crate) message: Cow<'static, str>,
    pub(crate) path: Vec<Segment>,
    /// The offsets of the field in the document.
    pub(crate) offsets: Vec<usize>,
    pub(crate) extensions: Map<String, Value>,
    pub(super) logged: Option<Logged>,
    /// The field with its type, such as `Query.users`.
    pub(super) field: String,
    pub(super) origin: Origin,
}

/// The part of an error that only the log is told.
#[derive(Debug)]
pub(super) struct Logged {
    /// The message and its causes.
    pub(super) chain: String,
    /// Whether the client gets no message.
    pub(super) masked: bool,
    /// Whether the client gets an `errorId`.
    pub(super) tells_id: bool,
    /// The `errorId` of its line, once that is written.
    pub(super) id: Option<Uuid>,
    /// The SQLSTATE of an error of PostgreSQL, as `SQLSTATE 22012`.
    pub(super) sqlstate: Option<String>,
    /// Its place, for the error tracker; `None` where there is none.
    pub(super) raised: Option<Raised>,
}

impl FieldError {
    /// An error of a resolver, as the client may see it; [`log_errors`](super::error_log::log_errors) writes the rest.
    pub(crate) fn new(error: &Error, field: &PlanField, path: &Path<'_>) -> Self {
        let masked = error.is_masked();
        let message = if masked { Cow::Borrowed(MASKED) } else { Cow::Owned(error.message().to_owned()) };
        let is_logged = masked || error.source().is_some();
        let raised = is_tracking().then(|| error.raised().clone());
        let sqlstate =
            || Some(error.raised().kind.as_ref()).filter(|kind| kind.starts_with("SQLSTATE ")).map(str::to_owned);
        let logged =
            || Logged { chain: error.chain(), masked, tells_id: masked, id: None, sqlstate: sqlstate(), raised };
        Self {
            code: Cow::Owned(error.code().to_owned()),
            message,
            path: path.segments(),
            offsets: field.offsets.clone(),
            extensions: error.extensions().clone(),
            logged: is_logged.then(logged),
            field: field.coordinate.clone(),
            origin: error.origin(),
        }
    }

    /// A value that breaks its declared type, from this `place`; the client `sees` the message.
    pub(crate) fn value(message: String, place: &str, sees: bool, field: &PlanField, path: &Path<'_>) -> Self {
        let chain = format!("{}: {message} ({place})", field.coordinate);
        let raised = is_tracking().then(|| Raised::nowhere("a stored value"));
        Self {
            code: Cow::Borrowed(ErrorCode::InternalServerError.as_str()),
            message: if sees { Cow::Owned(message) } else { Cow::Borrowed(MASKED) },
            path: path.segments(),
            offsets: field.offsets.clone(),
            extensions: Map::new(),
            logged: Some(Logged { chain, masked: !sees, tells_id: true, id: None, sqlstate: None, raised }),
            field: field.coordinate.clone(),
            origin: Origin::Other,
        }
    }

    /// Notes by which `errorId` the log has it; a client that does not see the message is told.
    pub(super) fn set_id(&mut self, id: Uuid) {
        let Some(logged) = &mut self.logged else { return };
        logged.id = Some(id);
        if logged.tells_id {
            self.extensions.insert("errorId".to_owned(), id.to_string().into());
        }
    }

    /// Tells which error of PostgreSQL a masked one is, as a developer may know.
    pub(super) fn tell_sqlstate(&mut self) {
        let sqlstate = self.logged.as_ref().filter(|logged| logged.masked).and_then(|logged| logged.sqlstate.as_ref());
        if let Some(sqlstate) = sqlstate {
            let reason = format!("{sqlstate}; the log has the rest beside the `errorId`");
            self.extensions.insert("reason".to_owned(), reason.into());
        }
    }

    /// Whether the client gets an `errorId` in place of the message.
    pub(crate) fn is_masked(&self) -> bool {
        self.logged.as_ref().is_some_and(|logged| logged.masked)
    }

    /// Whether the code is one after which a client may send the request again.
    pub(crate) fn invites_retry(&self) -> bool {
        use ErrorCode::{InternalServerError, ServiceUnavailable, Timeout};
        [InternalServerError, ServiceUnavailable, Timeout].iter().any(|code| code.as_str() == self.code)
    }
}
