//! The folders of a comparison.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::worktree::{git, output};

/// Absolute paths, as programs run in several folders.
#[derive(Debug)]
pub(crate) struct Places {
    /// The project with the work tree.
    pub(crate) project: PathBuf,
    /// The files of the benchmarks: `BENCH_WORK`.
    pub(crate) bench: PathBuf,
    /// The files of this program, in a folder of `bench`.
    pub(crate) work: PathBuf,
    /// The target directory of all builds: `BENCH_TARGET`.
    pub(crate) target: PathBuf,
}

impl Places {
    /// The folders that the environment names.
    ///
    /// # Errors
    /// The program was not started by `cargo xtask bench compare`.
    pub(crate) fn from_env() -> Result<Self> {
        // Not the folder of this crate at its build, as checkouts may share a target directory.
        let project = output(git(Path::new(".")).args(["rev-parse", "--show-toplevel"]))?;
        let (bench, target) = (place("BENCH_WORK")?, place("BENCH_TARGET")?);
        let work = bench.join("compare");
        fs::create_dir_all(&work).with_context(|| format!("cannot create {}", work.display()))?;
        Ok(Self {
            project: project.into(),
            bench,
            work,
            target,
        })
    }
}

/// The path in a variable.
fn place(name: &str) -> Result<PathBuf> {
    let path = std::env::var_os(name).with_context(|| {
        format!("{name} is not set; start this with `cargo xtask bench compare`")
    })?;
    Ok(std::path::absolute(path)?)
}
