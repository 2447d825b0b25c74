//! The choice between undoing and keeping what a failing function wrote.

/// The fate of what a function wrote, when it answers with a status that is not a success.
///
/// A function says it in its attribute, `#[svc::mutation(function = "app.log_in", on_failure = commit)]`, and a call from
/// Rust with [`Db::call_with`](crate::db::Db::call_with). An exception undoes a call in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum OnFailure {
    /// It is undone.
    #[default]
    Rollback,
    /// It is kept, for functions that write down what failed, such as a count of failed logins.
    Commit,
}
