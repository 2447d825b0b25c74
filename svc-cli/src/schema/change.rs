//! Changes of a schema.
//!
//! Kinds and severities are those of graphql-js (`findSchemaChanges`), with GraphQL Inspector's for root types and
//! deprecations.

use serde::Serialize;

/// The weight of a change for clients, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Severity {
    /// Operations that are valid become invalid, or are answered with what their types exclude.
    Breaking,
    /// Operations stay valid, but may meet what their clients do not know.
    Dangerous,
    /// Nothing that a client can notice.
    Safe,
}

impl Severity {
    /// A word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Dangerous => "dangerous",
            Self::Safe => "safe",
        }
    }
}

/// A change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Change {
    pub(super) severity: Severity,
    pub(super) kind: &'static str,
    /// The schema coordinate of what has changed.
    pub(super) coordinate: String,
    pub(super) message: String,
    /// The coordinate in the old schema whose users the change concerns.
    #[serde(skip)]
    pub(super) concerns: String,
}

/// The changes that are found, in the order in which they are.
#[derive(Debug, Default)]
pub(super) struct Changes {
    found: Vec<Change>,
}

impl Changes {
    /// Adds a change that concerns the users of what has changed.
    pub(super) fn add(&mut self, severity: Severity, kind: &'static str, coordinate: &str, message: impl Into<String>) {
        self.add_for(severity, kind, coordinate, coordinate, message);
    }

    /// Adds a change that concerns the users of something else, such as of the field that an argument is added to.
    pub(super) fn add_for(
        &mut self,
        severity: Severity,
        kind: &'static str,
        coordinate: &str,
        concerns: &str,
        message: impl Into<String>,
    ) {
        let (coordinate, concerns) = (coordinate.to_owned(), concerns.to_owned());
        self.found.push(Change { severity, kind, coordinate, message: message.into(), concerns });
    }

    /// Adds a change of a description, unless it stays the same.
    pub(super) fn describe(&mut self, coordinate: &str, old: Option<&str>, new: Option<&str>) {
        if old != new {
            self.add(Severity::Safe, "DESCRIPTION_CHANGED", coordinate, "its description has changed");
        }
    }

    /// All of them, the worst first.
    pub(super) fn sorted(mut self) -> Vec<Change> {
        self.found.sort_by(|a, b| a.severity.cmp(&b.severity).then_with(|| a.coordinate.cmp(&b.coordinate)));
        self.found
    }
}
