//! Findings, and their wording.

use std::fmt;

/// A mismatch between the schema and the database.
///
/// ```no_run
/// use svc::testing::{Severity, check_views};
/// # async fn example(options: svc::AppOptions, url: &str) -> svc::Result<()> {
/// for finding in check_views(&options, url).await? {
///     // `hint: Post.title of v_post: the column `title` of `tb_post` may be null; …`
///     println!("{finding}");
///     assert_eq!(finding.severity, Severity::Hint);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Finding {
    /// The consequence.
    pub severity: Severity,
    /// The view, table, function or channel of the database.
    pub source: String,
    /// The field of the schema, such as `Post.title` or `Query.posts`; empty if the finding is
    /// about the whole view.
    pub field: String,
    /// The reason.
    pub cause: String,
    /// The change that fixes it.
    pub remedy: String,
}

/// The consequence of a [`Finding`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// The field cannot be answered: `/ready` fails.
    Fault,
    /// Some rows or values may cause an error.
    Hint,
}

impl Severity {
    /// The name, in lower case.
    ///
    /// ```
    /// assert_eq!(svc::testing::Severity::Hint.as_str(), "hint");
    /// ```
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fault => "fault",
            Self::Hint => "hint",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            severity,
            source,
            field,
            cause,
            remedy,
        } = self;

        write!(f, "{}: ", severity.as_str())?;
        match field.is_empty() {
            true => write!(f, "{source}: ")?,
            false => write!(f, "{field} of {source}: ")?,
        }

        write!(f, "{cause}; {remedy}")
    }
}
