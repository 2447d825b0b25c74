//! The steps that bring a database up to date: its files compared with its record.

use super::files::{File, Kind};
use super::history::Entry;

/// The state of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// The database has it as it is.
    Applied,
    /// The database does not have it.
    Pending,
    /// It has changed since.
    Changed,
    /// It ran outside of a transaction and did not come to its end.
    Interrupted,
    /// The database has it, and the project does not.
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

/// The state of a file in a database.
pub(crate) fn state(file: &File, history: &[Entry]) -> State {
    match history.iter().find(|entry| entry.path == file.path) {
        None => State::Pending,
        Some(entry) if !entry.finished => State::Interrupted,
        Some(entry) if entry.checksum != file.checksum => State::Changed,
        Some(_) => State::Applied,
    }
}

/// The files that the database has and the project does not.
pub(crate) fn missing<'a>(files: &[File], history: &'a [Entry]) -> Vec<&'a Entry> {
    history.iter().filter(|entry| files.iter().all(|file| file.path != entry.path)).collect()
}

/// The files to run, in order: new ones of the schema, migrations, and the schema's changed ones, which may need what
/// the migrations bring.
pub(crate) fn to_run<'a>(files: &'a [File], history: &[Entry]) -> Vec<&'a File> {
    let of = |kind: Kind, wanted: State| {
        files.iter().filter(move |file| file.kind == kind && state(file, history) == wanted)
    };
    of(Kind::Schema, State::Pending)
        .chain(of(Kind::Migration, State::Pending))
        .chain(of(Kind::Schema, State::Changed))
        .collect()
}
