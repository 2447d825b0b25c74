//! The installation folders of PostgreSQL packages.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use crate::spawn;

/// Installation folders: a parent, the name prefix of its children that contain a server, and the
/// folder of the programs in such a child.
const FAMILIES: [(&str, &str, &str); 5] = [
    ("/usr/lib/postgresql", "", "bin"),
    ("/usr", "pgsql-", "bin"),
    ("/opt/homebrew/opt", "postgresql", "bin"),
    ("/usr/local/opt", "postgresql", "bin"),
    ("/Applications/Postgres.app/Contents/Versions", "", "bin"),
];

/// Returns the folders that may contain a server.
pub(super) fn installed() -> Vec<PathBuf> {
    let mut folders: Vec<_> = FAMILIES
        .iter()
        .flat_map(|(parent, prefix, tail)| children(Path::new(parent), prefix, tail))
        .collect();
    if let Some(folder) = pg_config() {
        folders.push(folder);
    }
    dedup(folders)
}

/// Returns the folders `<parent>/<prefix>*/<tail>` that contain a `postgres`.
pub(super) fn children(parent: &Path, prefix: &str, tail: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else {
        return Vec::new();
    };

    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path().join(tail))
        .filter(|folder| folder.join("postgres").is_file())
        .collect()
}

fn pg_config() -> Option<PathBuf> {
    let output = spawn::command("pg_config")
        .arg("--bindir")
        .stdin(Stdio::null())
        .output()
        .ok()?;

    // The packages for clients contain `pg_config`, but no server.
    let folder = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    folder.join("postgres").is_file().then_some(folder)
}

/// Removes duplicates of the same real folder: Homebrew links `postgresql` to `postgresql@18`, and
/// `pg_config` often prints a folder that was already found.
fn dedup(folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut seen = Vec::new();
    folders
        .into_iter()
        .filter(|folder| {
            let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            let new = !seen.contains(&real);
            seen.push(real);
            new
        })
        .collect()
}
