//! The meaning of PostgreSQL's error codes (SQLSTATE) for clients: one table for planned reads,
//! calls, writes to tables, the program's SQL and events.
//! <https://www.postgresql.org/docs/current/errcodes-appendix.html>
//!
//! Codes for mistakes in a program or its SQL are not listed, as a client cannot act on them: they
//! are masked. The same applies to constraints without a message from the program.

use super::origin::Origin;
use super::{Error, ErrorCode};

/// The key in `extensions` of errors after which the same request may be retried.
pub const RETRYABLE: &str = "retryable";

/// The meaning of a database error for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// A SQLSTATE, or the two letters of its class.
    state: &'static str,
    pub code: ErrorCode,
    /// The message, without names or values from the database.
    pub message: &'static str,
    /// Whether the same request may be retried.
    pub(crate) retryable: bool,
}

/// The code of an error, and where it was raised.
#[derive(Debug, Clone, Copy)]
pub struct ErrorReport<'a> {
    pub code: &'a str,
    /// The PostgreSQL source file that reports it.
    pub file: Option<&'a str>,
    /// Whether it was raised inside a function or trigger rather than by the statement itself.
    pub is_inside: bool,
}

/// The message for a conflict with concurrent changes or locks on the same data.
pub const CONTENTION: &str = "others were changing the same data; try again";

/// The message for a read-only database, such as a standby.
const READ_ONLY: &str = "the database takes no changes at present; try again later";
const OTHER_SERVER: &str = "a connection of the database to another server failed; try again later";
/// The condition for a missing view or table.
pub const MISSING: Condition = passing("42P01", LACKS);

const LACKS: &str = "the database lacks what the service needs at present; try again later";
const RESOURCES: &str = "the database lacks resources at present; try again later";
const NOT_READY: &str = "the database is not ready for this; try again later";
const INTERRUPTED: &str = "the database was interrupted; try again later";
const SYSTEM: &str = "the database has trouble with its system; try again later";
/// The message for a refusal by a policy or a function of the database.
pub(crate) const REFUSED: &str = "the database does not permit this";
const TOO_LONG: &str = "the statement was cancelled because it took too long";
const TOO_LATE: &str = "the transaction took too long";

/// The conditions; a code takes precedence over its class.
const CONDITIONS: [Condition; 21] = [
    passing("08", OTHER_SERVER),
    passing("25006", READ_ONLY),
    late("25P03", TOO_LATE),
    late("25P04", TOO_LATE),
    contended("40"),
    Condition {
        state: "42501",
        code: ErrorCode::Forbidden,
        message: REFUSED,
        retryable: false,
    },
    MISSING,
    passing("3F000", LACKS),
    passing("53", RESOURCES),
    passing("55000", NOT_READY),
    contended("55006"),
    contended("55P03"),
    passing("55P04", NOT_READY),
    late("57014", TOO_LONG),
    passing("57", INTERRUPTED),
    passing("58", SYSTEM),
    contended("72000"),
    passing("HV00N", OTHER_SERVER),
    passing("HV000", OTHER_SERVER),
    passing("HV00J", OTHER_SERVER),
    passing("HV00L", OTHER_SERVER),
];

const fn passing(state: &'static str, message: &'static str) -> Condition {
    Condition {
        state,
        code: ErrorCode::ServiceUnavailable,
        message,
        retryable: true,
    }
}

const fn contended(state: &'static str) -> Condition {
    Condition {
        state,
        code: ErrorCode::Conflict,
        message: CONTENTION,
        retryable: true,
    }
}

const fn late(state: &'static str, message: &'static str) -> Condition {
    Condition {
        state,
        code: ErrorCode::Timeout,
        message,
        retryable: false,
    }
}

impl Condition {
    /// The error that clients see.
    pub fn to_error(self) -> Error {
        let error = Error::new(self.code, self.message);
        if self.retryable {
            error
                .with_extension(RETRYABLE, true)
                .with_origin(Origin::Passing)
        } else {
            error
        }
    }
}

impl ErrorReport<'_> {
    /// Returns the condition that clients see; `None` if the error is masked.
    pub fn condition(&self) -> Option<&'static Condition> {
        let is_mistake = match self.code {
            // A missing privilege, or a policy that cannot be applied, is the operator's mistake. A
            // refusal by a policy or a function is the client's.
            "42501" => matches!(self.file, Some("aclchk.c" | "rls.c" | "rowsecurity.c")),
            // A view that is not updatable.
            "55000" => self.file == Some("rewriteHandler.c"),
            // Inside a function, a missing name is a mistake in its SQL; outside, a migration may
            // still be to come.
            "42P01" | "3F000" => self.is_inside,
            _ => false,
        };

        if is_mistake {
            return None;
        }

        let known = |state: &str| CONDITIONS.iter().find(|condition| condition.state == state);

        // `get`, because a proxy may send any text, and slicing inside a character would panic.
        known(self.code).or_else(|| known(self.code.get(..2)?))
    }
}

/// Whether a code reports a conflict with concurrent changes or locks on the same data: a
/// serialization failure, a deadlock, or a lock that was not waited for.
pub fn is_contention(code: &str) -> bool {
    let report = ErrorReport {
        code,
        file: None,
        is_inside: false,
    };
    report
        .condition()
        .is_some_and(|condition| condition.code == ErrorCode::Conflict)
}

/// Whether the database is read-only; another server of a cluster may accept writes by now.
pub fn is_read_only(code: &str) -> bool {
    code == "25006"
}

/// The PostgreSQL source files that parse texts of types with a syntax of their own, and report
/// errors in them like errors in SQL.
const READERS: [&str; 10] = [
    "cubeparse.y",
    "cubescan.l",
    "hstore_io.c",
    "jsonpath.c",
    "jsonpath_gram.y",
    "jsonpath_scan.l",
    "ltree_io.c",
    "ltxtquery_io.c",
    "tsquery.c",
    "tsvector_parser.c",
];

/// Whether PostgreSQL could not parse a text as a value of a type, or the type cannot represent the
/// value: codes of class 22 raised by a conversion rather than a computation, and syntax errors of
/// types that are reported by this source file. Bytes that are not text, 22021, are stored ones, as
/// the texts of clients are UTF-8.
pub fn is_conversion(code: &str, file: Option<&str>) -> bool {
    const CONVERSIONS: [&str; 15] = [
        "22P02", "22P03", "22001", "22003", "22007", "22008", "22009", "22015", "22018", "22023",
        "22026", "22030", "22032", "2200M", "2200N",
    ];

    match code {
        // The lower bound of a range is above the upper one.
        "22000" => file == Some("rangetypes.c"),
        "42601" | "42622" => file.is_some_and(|file| READERS.contains(&file)),
        _ => CONVERSIONS.contains(&code),
    }
}

/// Returns the condition of a PostgreSQL error received by sqlx.
#[cfg(feature = "sqlx")]
pub fn sqlx_condition(error: &sqlx::Error) -> Option<&'static Condition> {
    let sqlx::Error::Database(error) = error else {
        return None;
    };

    let error: &sqlx::postgres::PgDatabaseError = error.try_downcast_ref()?;
    let is_inside = error.r#where().is_some();
    ErrorReport {
        code: error.code(),
        file: error.file(),
        is_inside,
    }
    .condition()
}

#[cfg(test)]
mod tests {
    use super::{CONDITIONS, ErrorReport, is_contention, is_conversion};
    use crate::ErrorCode;

    fn code(code: &str, file: Option<&str>, is_inside: bool) -> Option<ErrorCode> {
        ErrorReport {
            code,
            file,
            is_inside,
        }
        .condition()
        .map(|condition| condition.code)
    }

    #[test]
    fn a_listed_code_overrides_its_class() {
        use ErrorCode::{Conflict, Forbidden, ServiceUnavailable, Timeout};

        for (state, expected) in [
            ("57014", Some(Timeout)),
            ("57P05", Some(ServiceUnavailable)),
            ("53100", Some(ServiceUnavailable)),
            ("53400", Some(ServiceUnavailable)),
            ("08006", Some(ServiceUnavailable)),
            ("25006", Some(ServiceUnavailable)),
            ("25001", None),
            ("40001", Some(Conflict)),
            ("40P01", Some(Conflict)),
            ("55P03", Some(Conflict)),
            ("55P02", None),
            ("42501", Some(Forbidden)),
            ("42P01", Some(ServiceUnavailable)),
            ("42703", None),
            ("22012", None),
            ("23505", None),
            ("P0001", None),
            ("XX000", None),
            ("", None),
            ("é", None),
        ] {
            assert_eq!(code(state, None, false), expected, "{state}");
        }
    }

    #[test]
    fn errors_of_operators_and_functions_are_masked() {
        assert_eq!(code("42501", Some("aclchk.c"), false), None);
        assert_eq!(
            code("42501", Some("execMain.c"), true),
            Some(ErrorCode::Forbidden)
        );
        assert_eq!(code("42P01", Some("parse_relation.c"), true), None);
        assert_eq!(code("55000", Some("rewriteHandler.c"), false), None);

        assert_eq!(
            code("55000", Some("execMain.c"), false),
            Some(ErrorCode::ServiceUnavailable)
        );
    }

    #[test]
    fn states_are_listed_once_and_messages_name_nothing() {
        for (index, condition) in CONDITIONS.iter().enumerate() {
            assert!(
                matches!(condition.state.len(), 2 | 5),
                "{}",
                condition.state
            );

            assert!(
                CONDITIONS[..index]
                    .iter()
                    .all(|other| other.state != condition.state),
                "{}",
                condition.state
            );

            assert!(
                !condition.message.contains(['`', '"', '\'']),
                "{}",
                condition.message
            );
        }

        assert!(is_contention("40001") && !is_contention("23505"));
    }

    #[test]
    fn conversions_are_told_from_computations_and_statements() {
        for code in ["22P02", "2200N"] {
            assert!(is_conversion(code, None), "{code}");
        }
        for code in ["22012", "22021", "22000", "42601"] {
            assert!(!is_conversion(code, None), "{code}");
        }

        assert!(is_conversion("22000", Some("rangetypes.c")));
        assert!(is_conversion("42601", Some("tsvector_parser.c")));
        assert!(!is_conversion("42601", Some("scan.l")));
    }
}
