//! The programs installed on this machine.

use std::process::{Command, Stdio};

use super::finding::Finding;

/// Looks for the programs used by commands.
pub(super) fn look() -> Vec<Finding> {
    let mut findings = vec![Finding::ok("svc", env!("CARGO_PKG_VERSION"))];
    findings.push(match version("cargo") {
        Some(version) => Finding::ok("cargo", version),
        None => Finding::problem(
            "cargo",
            "it is not installed",
            "install Rust: https://rustup.rs",
        ),
    });

    for (program, need) in [
        (
            "rustfmt",
            "`svc generate types` writes unformatted files without it: rustup component add rustfmt",
        ),
        (
            "git",
            "`svc init` and `svc schema diff` use it: install git",
        ),
        (
            "psql",
            "`svc db psql` runs it: install the client of PostgreSQL",
        ),
    ] {
        findings.push(match version(program) {
            Some(version) => Finding::ok(program, version),
            None => Finding::warning(program, "it is not installed", need),
        });
    }

    findings
}

/// The first line of a program's version output.
fn version(program: &str) -> Option<String> {
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;

    let line = String::from_utf8_lossy(&output.stdout)
        .lines()
        .next()?
        .trim()
        .to_owned();

    output.status.success().then_some(line)
}
