//! `svc migrate new`.

use std::fs;
use std::io::Write as _;

use chrono::Utc;

use super::Kind;
use super::files;
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;

const TEXT: &str = "\
-- Runs once, in its own transaction. For CREATE INDEX CONCURRENTLY, start the file with the line
-- `-- svc: no transaction`.

";

pub(super) fn run(project: &Project, name: &str) -> Result<()> {
    let path = create(project, &word(name)?, TEXT)?;
    terminal::print(&format!("{path}\n"))
}

/// Creates a migration, and returns its path relative to the project's folder.
pub(crate) fn create(project: &Project, name: &str, text: &str) -> Result<String> {
    let folder = project.root().join(Kind::Migration.folder());
    fs::create_dir_all(&folder).map_err(Failure::io(format!("create {}", folder.display())))?;
    let path = format!(
        "{}/{}_{name}.sql",
        Kind::Migration.folder(),
        number(project)?
    );

    // Unlike `create`, `create_new` fails for an existing file, so no migration is overwritten.
    let file = fs::File::create_new(project.root().join(&path));
    let failed = || Failure::io(format!("create {path}"));
    file.map_err(failed())?
        .write_all(text.as_bytes())
        .map_err(failed())?;

    Ok(path)
}

/// The current time, or if a migration already has that number, the number after the last one.
fn number(project: &Project) -> Result<u128> {
    let now = Utc::now()
        .format("%Y%m%d%H%M%S")
        .to_string()
        .parse()
        .unwrap_or_default();

    // Two migrations of the same second would get the same number, which `files::read` rejects.
    let numbers: Vec<u128> = files::read(project, Kind::Migration)?
        .iter()
        .filter_map(files::version)
        .collect();
    let is_taken = numbers.contains(&now);
    Ok(numbers
        .into_iter()
        .max()
        .filter(|_| is_taken)
        .map_or(now, |last| last.saturating_add(1)))
}

/// A name for a file: lower case, with `_` between its words.
fn word(name: &str) -> Result<String> {
    let parts = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty());
    let word = parts
        .map(str::to_ascii_lowercase)
        .collect::<Vec<_>>()
        .join("_");
    if word.is_empty() || word.len() > 100 {
        let failure = Failure::usage(format!("`{name}` is not a name for a migration"));
        return Err(failure.hint("describe the change in a few words: svc migrate new add_stock"));
    }

    Ok(word)
}
