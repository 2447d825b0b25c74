use std::borrow::Cow;

use crate::sql::{Column, Filter};
use svc_core::scalar::sql_value::SqlValue;
use svc_core::{Error, ErrorCode, Result};

/// The decision of an [`Authorizer`](super::Authorizer): whether an operation may run, and which
/// rows it may read. It is immutable.
///
/// ```
/// use svc::authz::AuthorizationDecision;
/// use svc::db::col;
///
/// let all = AuthorizationDecision::allow();
/// let own = AuthorizationDecision::allow_filtered([("tenant_id", 7)]);
/// let live = AuthorizationDecision::allow_where(col("tenant_id").eq(7).and(col("deleted_at").is_null()));
/// let none = AuthorizationDecision::deny_with("NO_MUTATIONS", "the service is read-only today");
/// assert!(all.allowed() && own.allowed() && live.allowed() && !none.allowed());
/// assert_eq!(none.code(), Some("NO_MUTATIONS"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AuthorizationDecision(Verdict);

#[derive(Debug, Clone, PartialEq)]
enum Verdict {
    Allow {
        filters: Vec<(String, SqlValue)>,
        condition: Option<Filter>,
    },
    Deny {
        code: Cow<'static, str>,
        message: Option<Cow<'static, str>>,
    },
}

impl AuthorizationDecision {
    /// Allows the operation.
    #[must_use]
    pub fn allow() -> Self {
        Self::allow_filtered::<String, SqlValue>([])
    }

    /// Allows the operation, restricted to rows with these values in these columns; `None` is null.
    ///
    /// The filters apply to queries: to rows of the root field's type, in every read by that field.
    /// On mutations and fields they are ignored, and a warning is logged. A column name must have
    /// the form `[a-z_][a-z0-9_]{0,62}`; any other name denies the operation.
    #[must_use]
    pub fn allow_filtered<C: Into<String>, V: Into<SqlValue>>(
        filters: impl IntoIterator<Item = (C, V)>,
    ) -> Self {
        let filters = filters
            .into_iter()
            .map(|(column, value)| (column.into(), value.into()))
            .collect();
        Self(Verdict::Allow {
            filters,
            condition: None,
        })
    }

    /// Allows the operation, restricted to rows that match; see
    /// [`allow_filtered`](Self::allow_filtered).
    #[must_use]
    pub fn allow_where(condition: Filter) -> Self {
        Self(Verdict::Allow {
            filters: Vec::new(),
            condition: Some(condition),
        })
    }

    /// Denies the operation; clients get the code `FORBIDDEN`.
    #[must_use]
    pub fn deny() -> Self {
        Self(Verdict::Deny {
            code: ErrorCode::Forbidden.as_str().into(),
            message: None,
        })
    }

    /// Denies the operation; clients get this code and message.
    #[must_use]
    pub fn deny_with(
        code: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self(Verdict::Deny {
            code: code.into(),
            message: Some(message.into()),
        })
    }

    /// Whether the operation may run.
    pub fn allowed(&self) -> bool {
        matches!(self.0, Verdict::Allow { .. })
    }

    /// The code of a denial.
    pub fn code(&self) -> Option<&str> {
        match &self.0 {
            Verdict::Allow { .. } => None,
            Verdict::Deny { code, .. } => Some(code),
        }
    }

    /// The message of a denial, if it has a custom one.
    pub fn message(&self) -> Option<&str> {
        match &self.0 {
            Verdict::Deny {
                message: Some(message),
                ..
            } => Some(message),
            _ => None,
        }
    }

    /// The required values of columns.
    pub fn filters(&self) -> &[(String, SqlValue)] {
        match &self.0 {
            Verdict::Allow { filters, .. } => filters,
            Verdict::Deny { .. } => &[],
        }
    }

    /// The row condition passed to [`allow_where`](Self::allow_where).
    pub fn condition(&self) -> Option<&Filter> {
        match &self.0 {
            Verdict::Allow { condition, .. } => condition.as_ref(),
            Verdict::Deny { .. } => None,
        }
    }

    /// Whether rows are filtered.
    pub(super) fn is_filtered(&self) -> bool {
        !self.filters().is_empty() || self.condition().is_some()
    }

    /// All row conditions combined.
    ///
    /// # Errors
    /// If a filter has an invalid column name.
    pub(super) fn row_condition(&self) -> Result<Filter> {
        let mut all: Vec<Filter> = self.condition().cloned().into_iter().collect();
        for (column, value) in self.filters() {
            // To skip such a filter would show all rows, so it denies.
            if !is_column(column) {
                return Err(Error::internal(format!(
                    "`{column}` in the filters of a decision is not a name of a column"
                )));
            }
            all.push(Column::of(column).eq(value.clone()));
        }

        Ok(Filter::All(all))
    }
}

/// `true` allows, `false` denies.
impl From<bool> for AuthorizationDecision {
    fn from(allowed: bool) -> Self {
        if allowed { Self::allow() } else { Self::deny() }
    }
}

/// `^[a-z_][a-z0-9_]{0,62}$`
fn is_column(name: &str) -> bool {
    let bytes = name.as_bytes();
    let is_first = |byte: &u8| byte.is_ascii_lowercase() || *byte == b'_';

    // PostgreSQL cuts longer names off after 63 bytes, and the rest may be another column's name.
    (1..=63).contains(&bytes.len())
        && is_first(&bytes[0])
        && bytes
            .iter()
            .all(|byte| is_first(byte) || byte.is_ascii_digit())
}

/// A return value of authorizers: an [`AuthorizationDecision`], a `bool`, or a [`Result`] with
/// either.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a decision",
    note = "return a `bool`, an `AuthorizationDecision`, or a `svc::Result` with either"
)]
pub trait IntoDecision {
    /// The decision.
    ///
    /// # Errors
    /// The error of the authorizer.
    fn into_decision(self) -> Result<AuthorizationDecision>;
}

impl<T: Into<AuthorizationDecision>> IntoDecision for T {
    fn into_decision(self) -> Result<AuthorizationDecision> {
        Ok(self.into())
    }
}

impl<T: Into<AuthorizationDecision>> IntoDecision for Result<T> {
    fn into_decision(self) -> Result<AuthorizationDecision> {
        self.map(Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_for_names_of_columns() {
        let is_taken = |name: &str| {
            AuthorizationDecision::allow_filtered([(name, 1)])
                .row_condition()
                .is_ok()
        };

        for name in ["a", "_", "tenant_id", "_a1", &"x".repeat(63)] {
            assert!(is_taken(name), "{name}");
        }

        for name in [
            "",
            "1a",
            "Tenant",
            "aB",
            "a-b",
            "a\"b",
            "a b",
            "\u{e9}",
            &"x".repeat(64),
        ] {
            assert!(!is_taken(name), "{name}");
        }
    }
}
