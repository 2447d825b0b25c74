//! A worktree of the project's repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// The files of a commit. They are removed with this value, unless they are kept.
#[derive(Debug)]
pub(crate) struct Worktree {
    project: PathBuf,
    path: PathBuf,
    is_kept: bool,
}

impl Worktree {
    /// Checks a commit out, unless a worktree that was kept has it.
    pub(crate) fn add(project: &Path, path: PathBuf, commit: &str, is_kept: bool) -> Result<Self> {
        let worktree = Self {
            project: project.to_owned(),
            path,
            is_kept,
        };
        if !worktree.has(commit) {
            worktree.remove();
            // Forced twice, git also forgets a worktree of this path whose folder is gone.
            let mut command = git(project);
            command.args([
                "worktree", "add", "--quiet", "--force", "--force", "--detach",
            ]);
            output(command.arg(&worktree.path).arg(commit))?;
        }
        Ok(worktree)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the worktree is at a commit, without changes.
    fn has(&self, commit: &str) -> bool {
        // In a folder that is no worktree, git would find the repository around it.
        if !self.path.join(".git").is_file() {
            return false;
        }

        let status = ["status", "--porcelain", "--untracked-files=no"];
        output(git(&self.path).args(["rev-parse", "HEAD"])).is_ok_and(|head| head == commit)
            && output(git(&self.path).args(status)).is_ok_and(|changes| changes.is_empty())
    }

    /// Removes the folder, and its entry in the repository.
    fn remove(&self) {
        // Both may fail: the folder may not exist, or not be known to git.
        let mut command = git(&self.project);
        command.args(["worktree", "remove", "--force", "--force"]);
        let _ = output(command.arg(&self.path));
        let _ = fs::remove_dir_all(&self.path);
    }
}

impl Drop for Worktree {
    fn drop(&mut self) {
        if !self.is_kept {
            self.remove();
        }
    }
}

/// Git in a folder.
pub(crate) fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder);
    command
}

/// The output of git without the last line end.
///
/// # Errors
/// Git fails; the error has its messages.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.output().context("cannot start git")?;
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}
