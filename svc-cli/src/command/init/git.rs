//! The repository of a new project.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::terminal;

/// Creates a repository, unless the folder is in one. The project is complete without it, so errors
/// are only warnings.
pub(crate) fn init(folder: &Path) {
    let git = |arguments: &[&str]| {
        Command::new("git")
            .arg("-C")
            .arg(folder)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
    };

    match git(&["rev-parse", "--is-inside-work-tree"]) {
        Ok(status) if status.success() => {}
        Ok(_) => match git(&["init"]) {
            Ok(status) if status.success() => terminal::done("created a git repository"),
            _ => terminal::warning("git did not create a repository; run `git init` to see why"),
        },
        Err(_) => {
            terminal::warning(
                "git is not installed, so no repository was created; pass --no-git if you want none",
            );
        }
    }
}
