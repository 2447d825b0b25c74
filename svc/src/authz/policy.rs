//! The seam for policies.

use futures_util::future::BoxFuture;

use super::Question;
use crate::Error;
use crate::sql::Filter;

/// Decides which root fields may run.
pub(crate) trait Policy: Send + Sync + 'static {
    /// Decides about one root field. It is asked once for each field of a request.
    ///
    /// # Errors
    /// A client error denies as it is. Any other denies without its words.
    fn decide<'a>(&'a self, question: &'a dyn Question) -> BoxFuture<'a, Result<Decision, Error>>;
}

/// The decision of a policy about a root field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Decision {
    Allow,
    /// The field may run, and read only rows that match.
    AllowWhere(Filter),
    Deny,
}
