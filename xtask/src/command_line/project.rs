//! A new project, as a user makes one, whose crates are built already.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use svc_embedded::free_port;

use crate::run::{root, run};

/// The name of the project, of its program and of its database.
const NAME: &str = "measured";

/// A project of the template `basic`, and the tool that runs it.
#[derive(Debug)]
pub(super) struct Project {
    svc: PathBuf,
    target: PathBuf,
    folder: PathBuf,
}

impl Project {
    /// Makes the project, and builds it once.
    pub(super) fn make(svc: PathBuf, target: PathBuf) -> Result<Self> {
        let parent = target.join("command-line");
        if parent.exists() {
            fs::remove_dir_all(&parent)?;
        }

        fs::create_dir_all(parent.join(".cargo"))?;
        fs::write(parent.join(".cargo/config.toml"), profiles()?)?;
        let url = format!(
            "postgresql://svc:svc@localhost:{}/{NAME}",
            free_port().context("no free port")?
        );
        let mut init = Command::new(&svc);
        init.args(["init", NAME, "--no-git", "--database-url", &url])
            .current_dir(&parent);
        run(init
            .arg("--svc-path")
            .arg(root().join("svc").canonicalize()?))?;
        let project = Self {
            svc,
            target,
            folder: parent.join(NAME),
        };

        fs::copy(root().join("Cargo.lock"), project.folder.join("Cargo.lock"))?;
        run(project.svc().arg("check"))?;

        Ok(project)
    }

    /// The tool in the project's folder.
    pub(super) fn svc(&self) -> Command {
        let mut svc = Command::new(&self.svc);
        svc.current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.target);
        svc.env_remove("SVC_DATABASE_URL")
            .env_remove("DATABASE_URL");
        svc
    }

    /// Replaces a text in a file.
    pub(super) fn edit(&self, file: &str, from: &str, to: &str) -> Result<()> {
        let path = self.folder.join(file);
        let text = fs::read_to_string(&path)?;
        Ok(fs::write(path, text.replacen(from, to, 1))?)
    }
}

/// The profiles of this repository, so that crates which are built are not built again.
fn profiles() -> Result<String> {
    let manifest = fs::read_to_string(Path::new("Cargo.toml"))?;
    let from = manifest.find("[profile.dev]").context("a profile")?;
    let end = manifest.find("[profile.release").context("a profile")?;
    Ok(manifest[from..end].to_owned())
}
