//! The repository's own rules.
//!
//! Places that do not keep them yet are counted in `known.txt`, which may only shrink: more than it
//! says is an error, and so is less, so that the list is always true. `cargo xtask tidy --shrink`
//! writes what has become less.

mod book;
mod circles;
mod commits;
mod english;
mod functions;
mod known;
mod lines;
mod source;
mod targets;
mod vendored;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

#[cfg(test)]
pub(crate) use self::lines::OF_THE_LONG_SUITE;

use crate::tidy::known::Known;
use crate::tidy::source::Source;

/// The treatment of what is known.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct Options {
    /// Writes the list of what is known, where less of it is left.
    #[arg(long)]
    shrink: bool,
    /// Also shows the circles that are known, with all the lines that make them.
    #[arg(long)]
    circles: bool,
}

/// Checks every tracked file, and the commits.
pub(crate) fn tidy(options: Options) -> Result<()> {
    let files = tracked_files(Path::new("."))?;
    let mut known = Known::read()?;
    let mut found = lines::check(&files);
    let sources = sources(&files)?;

    found.extend(circles::check(&sources, &mut known, options.circles));
    found.extend(functions::check(&sources, &mut known));
    found.extend(english::check(&files));
    found.extend(book::check(&files)?);
    found.extend(commits::check()?);
    found.extend(vendored::check()?);
    found.extend(targets::check(&files)?);
    found.extend(known.finish(options.shrink)?);
    if found.is_empty() {
        return Ok(());
    }

    bail!("{} places to mend:\n{}", found.len(), found.join("\n"));
}

/// A tracked file that is text.
#[derive(Debug)]
struct TextFile {
    path: PathBuf,
    text: String,
}

impl TextFile {
    fn extension(&self) -> &str {
        self.path
            .extension()
            .and_then(|extension| extension.to_str())
            .unwrap_or_default()
    }
}

/// The tracked files of a folder, with their paths in it.
fn tracked_files(root: &Path) -> Result<Vec<TextFile>> {
    let output = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output()
        .context("cannot start git")?;

    let names = String::from_utf8(output.stdout)?;
    let names = names.split('\0').filter(|name| !name.is_empty());
    Ok(names
        .filter_map(|name| {
            let text = std::fs::read_to_string(root.join(name)).ok()?;
            Some(TextFile {
                path: PathBuf::from(name),
                text,
            })
        })
        .collect())
}

/// The Rust files, but for those that are mistakes on purpose.
fn sources(files: &[TextFile]) -> Result<Vec<Source>> {
    let rust = files
        .iter()
        .filter(|file| file.extension() == "rs" && !file.path.starts_with(Path::new("tests/ui")));
    rust.map(|file| Source::parse(&file.path, &file.text))
        .collect()
}
