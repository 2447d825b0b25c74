//! The packages and programs of a workspace, to validate a choice.

use std::process::{Command, Stdio};

use serde::Deserialize;

use super::Choice;
use crate::failure::{Failure, Result};
use crate::project::Project;

/// The part of `cargo metadata` with the programs.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// Rejects a package or a program that the workspace does not have: cargo would report the same,
/// and no change to a file would make the build succeed.
pub(super) fn check(
    project: &Project,
    choice: &Choice,
    cargo: impl AsRef<std::ffi::OsStr>,
) -> Result<()> {
    let (package, binary) = choice.parts();
    if package.is_none() && binary.is_none() {
        return Ok(());
    }

    // Without the dependencies, cargo needs neither a lock file nor the network.
    let arguments = ["metadata", "--no-deps", "--format-version", "1"];
    let mut command = Command::new(cargo);
    let output = command
        .args(arguments)
        .current_dir(project.root())
        .stdin(Stdio::null())
        .output();

    // The build reports an unreadable manifest.
    let Ok(Ok(found)) = output.map(|output| serde_json::from_slice::<Metadata>(&output.stdout))
    else {
        return Ok(());
    };

    let chosen: Vec<&Package> = found
        .packages
        .iter()
        .filter(|found| package.is_none_or(|package| found.name == package))
        .collect();

    if let Some(package) = package.filter(|_| chosen.is_empty()) {
        let names: Vec<&str> = found
            .packages
            .iter()
            .map(|package| package.name.as_str())
            .collect();
        let failure = Failure::new(format!("the workspace has no package `{package}`"));
        return Err(failure
            .hint(format!("its packages are {}", names.join(", ")))
            .finally());
    }

    let programs = || {
        chosen
            .iter()
            .flat_map(|package| &package.targets)
            .filter(|target| target.is_program())
    };

    match binary {
        Some(binary) if programs().all(|program| program.name != binary) => {
            let names: Vec<&str> = programs().map(|program| program.name.as_str()).collect();
            let failure = Failure::new(format!("there is no program `{binary}`"));
            Err(failure
                .hint(format!("the programs are {}", names.join(", ")))
                .finally())
        }
        _ => Ok(()),
    }
}

impl Target {
    fn is_program(&self) -> bool {
        self.kind.iter().any(|kind| kind == "bin")
    }
}
