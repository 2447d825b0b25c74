//! The order of a set-up's files, which is that of `svc migrate up`.

use std::path::Path;

/// The part of a set-up that a file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// In a folder `migrations`: tables and their changes.
    Migration,
    /// In a folder `schema`: views, functions and policies, which need the tables as the last migration leaves them.
    Schema,
    /// Anywhere else.
    AsGiven,
}

impl Phase {
    /// The phase of a file, by the folder that it is in.
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

/// The number with which the name of a file begins; files without one come last.
pub(super) fn number(file: &Path) -> u128 {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let digits = name.find(|c: char| !c.is_ascii_digit()).unwrap_or(name.len());
    name[..digits].parse().unwrap_or(u128::MAX)
}
