//! All checks, the cheap ones first.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::deny::{changed_dependencies, deny};
use crate::features::{changed_features, each_feature};
use crate::reference::reference;
use crate::run::{cargo, run};
use crate::setup::setup;
use crate::test::{Summary, test, test_long, test_on_newest_postgres};
use crate::tidy::{self, tidy};

/// Runs all checks; with `whole`, also the long suite, the checks whose inputs have not changed since
/// they passed, and the black-box tests that do not depend on the server on the newest PostgreSQL.
///
/// The summary of the tests is the last line, so that the count is found where readers look for it.
pub(crate) fn ci(whole: bool) -> Result<()> {
    let mut steps = Steps::default();
    let summary = all(&mut steps, whole);
    steps.print();

    let summary = summary?;
    eprintln!("all checks passed");
    println!("{summary}");
    Ok(())
}

/// Runs the checks that need no test binary: format, the repository's rules, and the compiler on
/// the default features.
pub(crate) fn quick() -> Result<()> {
    let mut steps = Steps::default();
    let result = cheap(&mut steps).and_then(|()| steps.run("check", check));
    steps.print();
    result
}

fn all(steps: &mut Steps, whole: bool) -> Result<Summary> {
    cheap(steps)?;
    steps.run("licenses", if whole { deny } else { changed_dependencies })?;
    steps.run("clippy", clippy)?;

    steps.run("setup", setup)?;
    let summary = steps.run("tests", || test(&[]))?;
    let summary = summary
        + steps.run("tests on the newest PostgreSQL", || {
            test_on_newest_postgres(whole)
        })?;
    if whole {
        steps.run("long suite", test_long)?;
    }

    steps.run(
        "features",
        if whole {
            each_feature
        } else {
            changed_features
        },
    )?;

    steps.run("reference", || reference(false))?;

    Ok(summary)
}

fn cheap(steps: &mut Steps) -> Result<()> {
    steps.run("format", format)?;
    steps.run("tidy", || tidy(tidy::Options::default()))
}

fn check() -> Result<()> {
    run(cargo().args(["check", "--workspace"]))
}

fn format() -> Result<()> {
    run(cargo().args(["fmt", "--all", "--check"]))
        .context("some lines are not formatted; run `cargo fmt --all`")
}

fn clippy() -> Result<()> {
    run(cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "-D",
        "warnings",
    ]))
}

/// The steps that have run, each with its duration.
#[derive(Debug, Default)]
struct Steps {
    durations: Vec<(&'static str, Duration)>,
}

impl Steps {
    /// Runs a step; its error names it.
    fn run<T>(&mut self, name: &'static str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let result = step();
        self.durations.push((name, start.elapsed()));
        result.with_context(|| format!("the step `{name}` failed"))
    }

    fn print(&self) {
        for (name, duration) in &self.durations {
            eprintln!("{:>7.1} s  {name}", duration.as_secs_f64());
        }
        let total: Duration = self.durations.iter().map(|(_, duration)| *duration).sum();
        eprintln!("{:>7.1} s  in all", total.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::Steps;

    #[test]
    fn a_failed_step_is_named_and_timed() {
        let mut steps = Steps::default();
        let error = steps
            .run("format", || -> anyhow::Result<()> {
                bail!("lines are not formatted")
            })
            .unwrap_err();

        assert_eq!(
            format!("{error:#}"),
            "the step `format` failed: lines are not formatted"
        );

        assert_eq!(steps.durations.len(), 1);
    }
}
