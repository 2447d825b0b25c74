//! The order of a setup's files, which is that of `svc migrate up`.

use std::path::Path;

/// The phase of a setup that a file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// In a directory `migrations`: tables and their changes.
    Migration,
    /// In a directory `schema`: views, functions and policies, which need the tables as the last
    /// migration leaves them.
    Schema,
    /// In any other directory.
    AsGiven,
}

impl Phase {
    /// Returns the phase of a file, according to its directory.
    pub(super) fn of(file: &Path) -> Self {
        let folders = file.parent().into_iter().flat_map(Path::components);
        let is = |name: &str| folders.clone().any(|folder| folder.as_os_str() == name);
        if is("migrations") {
            Self::Migration
        } else if is("schema") {
            Self::Schema
        } else {
            Self::AsGiven
        }
    }
}

/// Returns the number at the start of a file's name; files without one come last.
pub(super) fn number(file: &Path) -> u128 {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let digits = name
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(name.len());
    name[..digits].parse().unwrap_or(u128::MAX)
}
