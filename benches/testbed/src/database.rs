//! The PostgreSQL that `side_by_side/with_postgres.sh` has started.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::Process;

/// A private PostgreSQL; who may connect may do everything.
#[derive(Debug)]
pub struct Database {
    port: String,
    folder: PathBuf,
}

impl Database {
    /// The one whose place the environment names.
    pub fn from_env() -> Result<Self> {
        let read = |name: &str| {
            std::env::var(name)
                .with_context(|| format!("{name} is not set; start this with `cargo xtask bench`"))
        };
        Ok(Self {
            port: read("BENCH_PGPORT")?,
            folder: read("BENCH_PGDATA")?.into(),
        })
    }

    /// Returns the URL by which servers find a database of this name.
    pub fn url(&self, name: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{name}", self.port)
    }

    /// Runs statements in a database and returns their output.
    pub fn run(&self, name: &str, statements: &str) -> Result<String> {
        psql(&self.url(name), statements)
    }

    /// The process that all others of this PostgreSQL descend from.
    pub fn process(&self) -> Result<Process> {
        let path = self.folder.join("postmaster.pid");
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let id = text
            .lines()
            .next()
            .unwrap_or_default()
            .trim()
            .parse()
            .context("postmaster.pid names no process")?;
        Ok(Process::new(id))
    }

    /// The date, the machine and the server, in one line.
    pub fn hardware(&self) -> Result<String> {
        let version = self.run("postgres", "SHOW server_version")?;
        let version = version.split(' ').next().unwrap_or_default();
        Ok(format!("{} PostgreSQL {version}.", report::hardware()))
    }
}

/// Runs statements in the database with a URL and returns their output.
pub fn psql(url: &str, statements: &str) -> Result<String> {
    let output = Command::new("psql")
        .args([
            "-qXAt",
            "-v",
            "ON_ERROR_STOP=1",
            "-d",
            url,
            "-c",
            statements,
        ])
        .output()
        .context("cannot start psql")?;
    ensure!(
        output.status.success(),
        "psql: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}
