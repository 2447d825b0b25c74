//! A revision of svc, and the build of its svc-target.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::places::Places;
use crate::worktree::{Worktree, git, output};

/// The letters of a commit in names of files.
const SHORT: usize = 12;

/// A commit, or the work tree.
#[derive(Debug)]
pub(crate) struct Revision {
    name: String,
    /// The commit; `None` for the work tree.
    commit: Option<String>,
}

/// A release build of svc-target.
#[derive(Debug)]
pub(crate) struct Program {
    /// The name of its revision.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// Builds svc-target of both revisions, once if both are the same commit: the table then shows the
/// differences between repetitions.
///
/// # Errors
/// A build fails.
pub(crate) fn build(
    revisions: &[Revision; 2],
    places: &Places,
    is_kept: bool,
) -> Result<[Program; 2]> {
    let [first, second] = revisions;
    let program = first.build(places, is_kept)?;
    let other = if first.commit == second.commit {
        Program {
            name: second.name.clone(),
            path: program.path.clone(),
        }
    } else {
        second.build(places, is_kept)?
    };
    Ok([program, other])
}

impl Revision {
    /// The commit with a name, such as that of a branch.
    ///
    /// # Errors
    /// There is no such commit.
    pub(crate) fn named(places: &Places, name: &str) -> Result<Self> {
        let commit = format!("{name}^{{commit}}");
        let commit = output(git(&places.project).args(["rev-parse", "--verify", &commit]))
            .with_context(|| format!("there is no revision `{name}`"))?;

        Ok(Self {
            name: shown(name, &commit),
            commit: Some(commit),
        })
    }

    /// The work tree as it is, with changes that are not committed.
    pub(crate) fn work_tree() -> Self {
        Self {
            name: "the work tree".to_owned(),
            commit: None,
        }
    }

    /// Builds svc-target, and copies it out of the target directory, where the next build replaces
    /// it.
    fn build(&self, places: &Places, is_kept: bool) -> Result<Program> {
        let worktree = self
            .commit
            .as_deref()
            .map(|commit| {
                let path = places.work.join(self.id());
                Worktree::add(&places.project, path, commit, is_kept)
            })
            .transpose()?;
        let tree = worktree
            .as_ref()
            .map_or(places.project.as_path(), Worktree::path);

        let mut command = cargo_build(tree, &places.target);
        let command_line = command_line(&command);
        eprintln!("$ {command_line}");
        let status = command
            .status()
            .with_context(|| format!("cannot start `{command_line}`"))?;
        ensure!(
            status.success(),
            "the build of {} failed: `{command_line}` ({status})",
            self.name
        );

        let path = places.work.join(format!("svc-target-{}", self.id()));
        fs::copy(places.target.join("release/svc-target"), &path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Program {
            name: self.name.clone(),
            path,
        })
    }

    /// The name of the revision in file names.
    fn id(&self) -> &str {
        match &self.commit {
            Some(commit) => &commit[..SHORT.min(commit.len())],
            None => "work-tree",
        }
    }
}

/// The name of a revision, with the commit where the name is that of a branch.
fn shown(name: &str, commit: &str) -> String {
    if commit.starts_with(name) {
        return name.to_owned();
    }
    format!("{name} ({})", &commit[..SHORT.min(commit.len())])
}

/// The release build of svc-target in a checkout of svc.
fn cargo_build(tree: &Path, target: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["build", "--release", "--manifest-path"])
        .arg(tree.join("benches/side_by_side/svc-target/Cargo.toml"))
        .arg("--target-dir")
        .arg(target)
        .current_dir(tree);

    // Cargo describes this package to the program. Build scripts would take that for a change, and
    // nearly all crates would be built again.
    for (name, _) in std::env::vars_os() {
        let is_of_package = name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        });
        if is_of_package {
            command.env_remove(name);
        }
    }
    command
}

/// The command as a person would type it.
fn command_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Revision, cargo_build, command_line, shown};

    const COMMIT: &str = "161501aa477ddc478af60e855ffc5c991e4ca278";

    #[test]
    fn a_branch_is_shown_with_its_commit() {
        assert_eq!(shown("161501a", COMMIT), "161501a");
        assert_eq!(shown("main", COMMIT), "main (161501aa477d)");
    }

    #[test]
    fn files_are_named_after_the_commit() {
        let revision = Revision {
            name: "main".to_owned(),
            commit: Some(COMMIT.to_owned()),
        };

        assert_eq!(revision.id(), "161501aa477d");
        assert_eq!(Revision::work_tree().id(), "work-tree");
    }

    #[test]
    fn all_builds_have_the_same_target_directory() {
        let command = cargo_build(Path::new("/a"), Path::new("/target"));

        let line = command_line(&command);
        let expected = "build --release --manifest-path /a/benches/side_by_side/svc-target/Cargo.toml --target-dir /target";
        assert!(line.ends_with(expected), "{line}");
    }
}
