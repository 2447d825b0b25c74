//! The counts that the repository holds.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

/// Instructions of a request by its name, and what they depend on.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Record {
    machine: String,
    instructions: BTreeMap<String, u64>,
}

const HEAD: &str = "# Instructions of the server for one request. Written by `cargo xtask bench instructions --record`.\n";

fn path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded.toml")
}

impl Record {
    /// Reads the record; it is empty where there is no file.
    pub(crate) fn read() -> Result<Self> {
        match std::fs::read_to_string(path()) {
            Ok(text) => toml::from_str(&text).context("recorded.toml"),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).context("recorded.toml"),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<u64> {
        self.instructions.get(name).copied()
    }

    /// Replaces the file.
    pub(crate) fn write(instructions: BTreeMap<String, u64>) -> Result<()> {
        let record = Self {
            machine: report::hardware(),
            instructions,
        };
        Ok(std::fs::write(
            path(),
            format!("{HEAD}{}", toml::to_string(&record)?),
        )?)
    }
}
