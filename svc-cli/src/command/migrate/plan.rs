//! The order of the files: the only place that decides about the files to run on a database and
//! their order.
//!
//! On every database, the migrations run first, each once and by number. The files of `db/schema`
//! follow: they recreate views, functions and policies, and so always see the tables as the last
//! migration leaves them.

use super::files::{File, Kind};
use super::history::Entry;

/// The state of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// The database has it unchanged.
    Applied,
    /// The database does not have it.
    Pending,
    /// It has changed since it was applied.
    Changed,
    /// It ran outside of a transaction and did not complete.
    Interrupted,
    /// The database has it, but the project does not.
    Missing,
}

impl State {
    /// A word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Pending => "pending",
            Self::Changed => "changed",
            Self::Interrupted => "interrupted",
            Self::Missing => "missing",
        }
    }
}

/// The steps that bring a database up to date.
#[derive(Debug, Default, Clone)]
pub(super) struct Plan<'a> {
    /// Migrations missing from the database, by number.
    pub(super) migrations: Vec<&'a File>,
    /// Migrations without a statement, which are still being written.
    pub(super) unwritten: Vec<&'a File>,
    /// Files of `db/schema` that are new or have changed.
    pub(super) repeatable: Vec<&'a File>,
    /// Files of `db/schema` that the database had and the project no longer has.
    pub(super) removed: Vec<&'a Entry>,
    /// Whether the database has a migration missing from the project.
    pub(super) is_ahead: bool,
    /// All files of `db/schema`: some run again because of their dependencies.
    pub(super) schema: Vec<&'a File>,
}

impl<'a> Plan<'a> {
    /// Compares the files with the record of a database.
    pub(super) fn new(files: &'a [File], history: &'a [Entry]) -> Self {
        let pending = |kind: Kind| {
            files
                .iter()
                .filter(move |file| file.kind == kind && is_due(file, history))
        };

        let (unwritten, migrations) = pending(Kind::Migration).partition(|file| file.is_empty());
        let missing = missing(files, history);

        // A database that is ahead of the project belongs to a newer release, which still needs its
        // views.
        let is_ahead = missing.iter().any(|entry| !is_repeatable(entry));
        let removed = if is_ahead { Vec::new() } else { missing };

        Self {
            migrations,
            unwritten,
            repeatable: pending(Kind::Schema).collect(),
            removed,
            is_ahead,
            schema: files
                .iter()
                .filter(|file| file.kind == Kind::Schema)
                .collect(),
        }
    }

    /// The plan without migrations, for `svc dev`.
    pub(super) fn without_migrations(mut self) -> Self {
        self.migrations.clear();
        self
    }

    /// Whether the database is up to date.
    pub(super) fn is_empty(&self) -> bool {
        self.migrations.is_empty() && self.repeatable.is_empty() && self.removed.is_empty()
    }

    /// The number of files to run.
    pub(super) fn count(&self) -> usize {
        self.migrations.len() + self.repeatable.len()
    }

    /// The files to run, in order.
    pub(super) fn files(&self) -> impl Iterator<Item = &'a File> {
        self.migrations.iter().chain(&self.repeatable).copied()
    }
}

/// Whether a file has to run.
fn is_due(file: &File, history: &[Entry]) -> bool {
    // A changed migration does not get here, because `apply::refuse` has rejected it.
    matches!(state(file, history), State::Pending | State::Changed)
}

/// Whether a file of the record belongs to `db/schema`.
pub(super) fn is_repeatable(entry: &Entry) -> bool {
    entry.path.starts_with(Kind::Schema.folder())
}

/// The state of a file in a database.
pub(crate) fn state(file: &File, history: &[Entry]) -> State {
    match history.iter().find(|entry| entry.path == file.path) {
        None => State::Pending,
        Some(entry) if !entry.finished => State::Interrupted,
        Some(entry) if entry.checksum != file.checksum => State::Changed,
        Some(_) => State::Applied,
    }
}

/// The files that the database has but the project does not.
pub(crate) fn missing<'a>(files: &[File], history: &'a [Entry]) -> Vec<&'a Entry> {
    history
        .iter()
        .filter(|entry| files.iter().all(|file| file.path != entry.path))
        .collect()
}
