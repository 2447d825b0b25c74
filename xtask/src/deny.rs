//! Licences, sources and banned crates, as deny.toml says.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::passed::{self, Inputs};
use crate::run::{cargo, exists, run, shown};

const VERSION: &str = "0.20.2";

/// The folder of tools that this program installs.
const TOOLS: &str = "target/tools";

/// The name of the record of the check.
const CHECK: &str = "licenses";

/// Runs `cargo deny`, unless it has passed with the same dependencies and is not installed:
/// building it takes minutes.
pub(crate) fn changed_dependencies() -> Result<()> {
    if !exists("cargo-deny") && passed::has_passed(CHECK, inputs()?)? {
        eprintln!("the dependencies are those of the last check of their licenses");
        return Ok(());
    }
    deny()
}

/// The dependencies, and the rules for them.
fn inputs() -> Result<Inputs> {
    let mut inputs = Inputs::default();
    inputs.add_file(Path::new("Cargo.lock"))?;
    inputs.add_file(Path::new("deny.toml"))?;
    Ok(inputs)
}

/// Runs `cargo deny`, which is built once where it is not installed: 95 seconds on two processors.
pub(crate) fn deny() -> Result<()> {
    let mut program = "cargo-deny".to_owned();
    if !exists(&program) {
        program = format!("{TOOLS}/bin/cargo-deny");
        if !Path::new(&program).is_file() {
            let package = format!("cargo-deny@{VERSION}");
            run(cargo().args(["install", &package, "--locked", "--debug", "--root", TOOLS]))?;
        }
    }

    run(Command::new(&program).args(["check", "bans", "licenses", "sources"]))?;
    advisories(&program)?;

    passed::write(CHECK, inputs()?)
}

/// The advisories are on GitHub, which a build need not reach.
fn advisories(program: &str) -> Result<()> {
    let mut command = Command::new(program);
    command.args(["check", "advisories"]);
    eprintln!("$ {}", shown(&command));
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Ok(());
    }

    if text.contains("failed to fetch advisory database") {
        eprintln!("the advisories cannot be fetched, so nothing is checked against them");
        return Ok(());
    }

    bail!("{text}\n`{}` failed ({})", shown(&command), output.status);
}
