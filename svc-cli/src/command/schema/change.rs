//! Changes of a schema.
//!
//! Kinds and severities follow graphql-js (`findSchemaChanges`), and GraphQL Inspector for root
//! types and deprecations.

use serde::Serialize;

/// The severity of a change for clients, the most severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Severity {
    /// Valid operations become invalid, or get values that their types exclude.
    Breaking,
    /// Operations stay valid, but may get values unknown to their clients.
    Dangerous,
    /// Clients cannot notice it.
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
    /// The schema coordinate of the changed element.
    pub(super) coordinate: String,
    pub(super) message: String,
    /// The coordinate in the old schema whose users are affected.
    #[serde(skip)]
    pub(super) concerns: String,
}

/// The changes, in the order of their discovery.
#[derive(Debug, Default)]
pub(super) struct Changes {
    found: Vec<Change>,
}

impl Changes {
    /// Adds a change that affects the users of the changed element.
    pub(super) fn add(
        &mut self,
        severity: Severity,
        kind: &'static str,
        coordinate: &str,
        message: impl Into<String>,
    ) {
        self.add_for(severity, kind, coordinate, coordinate, message);
    }

    /// Adds a change that affects the users of another element, such as the field of a new
    /// argument.
    pub(super) fn add_for(
        &mut self,
        severity: Severity,
        kind: &'static str,
        coordinate: &str,
        concerns: &str,
        message: impl Into<String>,
    ) {
        let (coordinate, concerns) = (coordinate.to_owned(), concerns.to_owned());
        self.found.push(Change {
            severity,
            kind,
            coordinate,
            message: message.into(),
            concerns,
        });
    }

    /// Adds a change of a description, unless it stays the same.
    pub(super) fn describe(&mut self, coordinate: &str, old: Option<&str>, new: Option<&str>) {
        if old != new {
            self.add(
                Severity::Safe,
                "DESCRIPTION_CHANGED",
                coordinate,
                "its description has changed",
            );
        }
    }

    /// All changes, the most severe first.
    pub(super) fn sorted(mut self) -> Vec<Change> {
        self.found.sort_by(|a, b| {
            a.severity
                .cmp(&b.severity)
                .then_with(|| a.coordinate.cmp(&b.coordinate))
        });
        self.found
    }
}
