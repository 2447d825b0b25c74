//! The output of cargo's test programs, read as it comes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The most lines of a failed test's output that the report repeats, its last ones.
const LINES_OF_A_TEST: usize = 60;

/// The most failed tests whose output the report repeats.
const TESTS_OF_A_REPORT: usize = 10;

/// The number of tests that passed and failed.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Summary {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl std::ops::Add for Summary {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self.passed += other.passed;
        self.failed += other.failed;
        self
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// The end of a run of tests.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) summary: Summary,
    /// The names of the tests that failed.
    pub(super) failed: BTreeSet<String>,
    /// The number of test programs that have begun and not come to their end, as one that crashes.
    pub(super) unfinished: usize,
    /// The number of those that were aborted, because nothing went on in them.
    pub(super) aborted: usize,
    /// The tests of the program that runs which have not ended after a minute.
    slow: BTreeSet<String>,
    /// The tests among which those are that hang.
    stuck: BTreeSet<String>,
    pub(super) is_success: bool,
    /// The lines that the failed tests printed.
    output: BTreeMap<String, Vec<String>>,
    part: Part,
}

/// The part of a test program's output that the next line belongs to.
#[derive(Debug, Default)]
enum Part {
    #[default]
    Results,
    /// The output of a failed test.
    Output(String),
    /// The names of the failed tests.
    Names,
}

impl Outcome {
    /// Reads a line.
    pub(super) fn read(&mut self, line: &str) {
        if line.starts_with("running ") && line.split(' ').count() == 3 {
            self.unfinished += 1;
        }

        if let Some(test) = line.strip_prefix("test ") {
            if let Some(name) = test.strip_suffix(" has been running for over 60 seconds") {
                self.slow.insert(name.to_owned());
            } else if let Some((name, _)) = test.split_once(" ... ") {
                self.slow.remove(name);
            }
        }

        if let Some((passed, failed)) = counts(line) {
            self.summary.passed += passed;
            self.summary.failed += failed;
            self.unfinished = self.unfinished.saturating_sub(1);
            self.part = Part::Results;
            return;
        }

        if line == "failures:" {
            self.part = Part::Names;
            return;
        }

        if let Some(name) = line
            .strip_prefix("---- ")
            .and_then(|line| line.strip_suffix(" stdout ----"))
        {
            self.part = Part::Output(name.to_owned());
            return;
        }

        match &self.part {
            Part::Results => {}
            // Backtraces would push the message out of the report.
            Part::Output(_) if is_of_backtrace(line) => {}
            Part::Output(name) => self
                .output
                .entry(name.clone())
                .or_default()
                .push(line.to_owned()),
            Part::Names => match line.strip_prefix("    ") {
                Some(name) => drop(self.failed.insert(name.to_owned())),
                None if line.is_empty() => {}
                None => self.part = Part::Results,
            },
        }
    }

    /// Counts the program that runs as aborted. Returns a line with the tests that it waited for.
    pub(super) fn abort(&mut self, silence: Duration) -> String {
        let names = std::mem::take(&mut self.slow);
        let list = names.iter().map(String::as_str).collect::<Vec<_>>();
        let line = format!(
            "no test ended for {} s; aborting the test program, in which these run: {}",
            silence.as_secs(),
            list.join(", ")
        );

        self.aborted += 1;
        self.stuck.extend(names);
        line
    }

    /// The failed tests with the last lines of their output, for the end of a long log.
    pub(super) fn report(&self) -> String {
        let mut report = String::new();
        for name in self.failed.iter().take(TESTS_OF_A_REPORT) {
            report += &format!("---- {name}\n");
            let lines = self.output.get(name).map_or(&[][..], Vec::as_slice);
            for line in &lines[lines.len().saturating_sub(LINES_OF_A_TEST)..] {
                report += line;
                report += "\n";
            }
        }

        report
    }

    /// One line about the failure.
    pub(super) fn failure(&self) -> String {
        let mut failure = format!("{} tests failed", self.failed.len());
        if !self.failed.is_empty() {
            let names: Vec<&str> = self.failed.iter().map(String::as_str).collect();
            failure += &format!(": {}", names.join(", "));
        }

        if !self.stuck.is_empty() {
            let names: Vec<&str> = self.stuck.iter().map(String::as_str).collect();
            failure += &format!("; these hung: {}", names.join(", "));
        }

        if self.unfinished > 0 {
            failure += &format!(
                "; {} test programs did not come to their end",
                self.unfinished
            );
        }

        failure
    }
}

/// `stack backtrace:`, `   0: rust_begin_unwind` or `             at ./src/lib.rs:1:1`
fn is_of_backtrace(line: &str) -> bool {
    let frame = line.trim_start();
    let is_numbered = frame
        .split_once(": ")
        .is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    line == "stack backtrace:" || (frame != line && (is_numbered || frame.starts_with("at ")))
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
    use std::time::Duration;

    use super::{Outcome, counts};

    #[test]
    fn cargo_s_summary_is_read() {
        let line = "test result: FAILED. 42 passed; 2 failed; 0 ignored; 0 measured; 1 filtered out; finished in 24.16s";
        assert_eq!(counts(line), Some((42, 2)));
        assert_eq!(counts("running 3 tests"), None);
    }

    #[test]
    fn failed_tests_are_reported_with_their_output() {
        let text = "running 3 tests\n\nfailures:\n\n---- a::b stdout ----\n    a quote\n\n---- c::d stdout ----\nleft: 1\nstack backtrace:\n   0: main\n             at ./src/main.rs:1:1\n\n\
                    failures:\n    a::b\n    c::d\n\ntest result: FAILED. 1 passed; 2 failed; 0 ignored\n    Running more";
        let mut outcome = Outcome::default();
        text.lines().for_each(|line| outcome.read(line));
        assert_eq!(outcome.failed, ["a::b", "c::d"].map(str::to_owned).into());
        assert_eq!(
            outcome.report(),
            "---- a::b\n    a quote\n\n---- c::d\nleft: 1\n\n"
        );
        assert_eq!(outcome.failure(), "2 tests failed: a::b, c::d");
        assert_eq!(outcome.summary.to_string(), "1 passed, 2 failed");
        outcome.read("running 1 test");

        assert_eq!(
            outcome.failure(),
            "2 tests failed: a::b, c::d; 1 test programs did not come to their end"
        );
    }
    #[test]
    fn a_program_that_hangs_is_reported_with_its_tests() {
        let mut outcome = Outcome::default();
        for line in [
            "running 3 tests",
            "test a has been running for over 60 seconds",
            "test b has been running for over 60 seconds",
            "test b ... ok",
            "test c ... ok",
        ] {
            outcome.read(line);
        }

        assert_eq!(
            outcome.abort(Duration::from_secs(600)),
            "no test ended for 600 s; aborting the test program, in which these run: a"
        );
        assert_eq!(
            outcome.failure(),
            "0 tests failed; these hung: a; 1 test programs did not come to their end"
        );
    }
}
