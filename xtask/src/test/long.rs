//! The long suite: the tests that have fewer cases in every run, with all of them, and the tests
//! that compare times.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::{ensure_success, postgres_version, run_command};
use crate::run::{cargo, root};
use crate::setup::setup;

/// The variable that asks the tests for all their cases.
const LONG: &str = "SVC_TEST_LONG";

/// The black-box tests that have more cases in the long suite, or run only there.
const TESTS: [&str; 24] = [
    "accounts::flood::",
    "accounts::redis::",
    "accounts::timing::",
    "authz::acted_rows::",
    "authz::planted::",
    "authz::row_policies::event_oracle::",
    "authz::row_policies::masks::",
    "authz::row_policies::oracle::",
    "authz::row_policies::random::",
    "authz::row_policies::random_masks::",
    "authz::row_policies::scoping::",
    "database::changed_views::",
    "differential::",
    "differential::paths::",
    "metrics::bounded::",
    "mutations::upserts::random::",
    "protection::overload::",
    "reads::children::random::",
    "reads::groups::random::",
    "reads::pages::buffers::",
    "reads::projection::",
    "response_cache::races::",
    "sockets::many_events::",
    "subscriptions::together::",
];

/// The longest time of a test that does not hang.
const SILENCE: Duration = Duration::from_secs(3_600);

/// The page that keeps the last result.
const RECORD: &str = "tests/long.md";

/// Runs the long suite, one test at a time, and records how long each test took.
pub(crate) fn test_long() -> Result<()> {
    setup()?;

    let mut command = cargo();
    command
        // Of the whole workspace, so that svc has the features with which it is built already.
        .args(["test", "--workspace", "--test", "it", "--"])
        .args(["--test-threads", "1", "--include-ignored"])
        .args(TESTS)
        .env(LONG, "1");
    let mut times = Times::new();
    let outcome = run_command(&mut command, None, SILENCE, |line| times.read(line))?;
    ensure_success(&outcome)?;

    let day = line_of(Command::new("date").args(["-u", "+%F"]))?;
    let commit = line_of(Command::new("git").args(["describe", "--always", "--dirty"]))?;
    let record = times.record(&day, &commit, &postgres_version(None)?.to_string());
    fs::write(root().join(RECORD), record).with_context(|| format!("cannot write {RECORD}"))
}

/// Returns the line that a command prints.
fn line_of(command: &mut Command) -> Result<String> {
    let output = command.current_dir(root()).output()?;
    ensure!(output.status.success(), "{command:?} failed");
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// The time of each test that ran alone.
#[derive(Debug)]
struct Times {
    last: Instant,
    tests: Vec<(String, Duration)>,
}

impl Times {
    fn new() -> Self {
        Self {
            last: Instant::now(),
            tests: Vec::new(),
        }
    }

    fn read(&mut self, line: &str) {
        let elapsed = self.last.elapsed();
        if line.starts_with("running ") {
            self.last = Instant::now();
        }

        if let Some(name) = passed(line) {
            self.tests.push((name.to_owned(), elapsed));
            self.last = Instant::now();
        }
    }

    /// Returns the page that keeps the times.
    fn record(&self, day: &str, commit: &str, postgres: &str) -> String {
        let mut page = format!(
            "# The long suite\n\nWritten by `cargo xtask test long` on {day}, of commit {commit} on \
             PostgreSQL {postgres}. All tests passed.\n\n| Test | Seconds |\n|---|---:|\n"
        );

        for (name, duration) in &self.tests {
            let _ = writeln!(page, "| `{name}` | {:.0} |", duration.as_secs_f64());
        }

        page
    }
}

/// Returns the name of the test that a line says has passed.
fn passed(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... ok")
}

#[cfg(test)]
mod tests {
    use super::{TESTS, Times};
    use crate::run::root;
    use crate::test::black_box_files;
    use crate::tidy::OF_THE_LONG_SUITE;

    #[test]
    fn tests_with_more_cases_and_ignored_tests_are_in_the_long_suite() {
        let folder = root().join("tests/it");
        let mut modules: Vec<String> = black_box_files()
            .iter()
            .filter(|file| {
                std::fs::read_to_string(file)
                    .is_ok_and(|text| text.contains("cases(\"") || text.contains(OF_THE_LONG_SUITE))
            })
            .map(|file| {
                let path = file.strip_prefix(&folder).unwrap().with_extension("");
                let path = path.to_str().unwrap().replace('/', "::");
                format!("{}::", path.strip_suffix("::mod").unwrap_or(&path))
            })
            .collect();
        modules.sort();

        assert_eq!(modules, TESTS);
    }

    #[test]
    fn the_record_lists_the_tests_that_passed() {
        let mut times = Times::new();
        for line in [
            "running 2 tests",
            "test authz::planted::first ... ok",
            "test authz::planted::second ... FAILED",
            "test result: FAILED. 1 passed; 1 failed",
        ] {
            times.read(line);
        }

        let record = times.record("2026-01-31", "0123abcd", "18.1");
        assert!(record.contains("2026-01-31, of commit 0123abcd on PostgreSQL 18.1"));
        assert!(record.ends_with("|---|---:|\n| `authz::planted::first` | 0 |\n"));
    }
}
