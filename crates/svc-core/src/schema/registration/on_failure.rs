//! Whether a failing function's writes are rolled back or committed.

/// The outcome of a function's writes if it returns a status that is not a success.
///
/// Specify it in the function's attribute,
/// `#[svc::mutation(function = "app.log_in", on_failure = commit)]`, or in a call from Rust with
/// `Db::call_with`. An exception always rolls the call back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnFailure {
    /// Roll back the writes.
    #[default]
    Rollback,
    /// Commit the writes, for functions that record failures, such as a count of failed logins.
    Commit,
}
