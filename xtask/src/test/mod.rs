//! All tests, with what they need.

mod long;
mod newest;
mod outcome;
mod pooled;
mod stuck;

use std::io::{BufRead as _, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::run::{cargo, root, shown};
use crate::setup::setup;

pub(crate) use self::long::test_long;
pub(crate) use self::newest::test_on_newest_postgres;
pub(crate) use self::outcome::Summary;

use self::outcome::Outcome;

/// The number of tests that run at once for each processor. Most of them wait for PostgreSQL or for
/// a time.
const THREADS_PER_PROCESSOR: usize = 2;

/// The variable that tells a test program how many tests it runs at once.
const THREADS: &str = "RUST_TEST_THREADS";

/// The variable with the folder in which svc-embedded keeps the result of `initdb`.
const INITDB_CACHE: &str = "SVC_PG_INITDB_CACHE";

/// The time in which the last lines of an ended cargo arrive.
const LAST_LINES: Duration = Duration::from_secs(2);

/// The longest time between the ends of two tests of a program. A program that takes longer waits
/// for something that never comes, and is aborted.
const SILENCE: Duration = Duration::from_secs(600);

/// Runs `setup` and `cargo test`, and sums up its parts.
pub(crate) fn test(arguments: &[String]) -> Result<Summary> {
    setup()?;
    let outcome = run_tests(cargo(), arguments, None)?;
    ensure_success(&outcome)?;
    Ok(outcome.summary)
}

/// Runs the black-box tests of reads and writes, or those that are asked for, with PgBouncer
/// between the services and their databases.
pub(crate) fn test_behind_pooler(asked: &[String]) -> Result<Summary> {
    setup()?;
    pooled::check_pooler()?;
    let mut command = cargo();
    command.env(pooled::VARIABLE, "1");
    let outcome = run_tests(command, &pooled::arguments(asked), None)?;
    ensure_success(&outcome)?;

    Ok(outcome.summary)
}

/// Fails unless all tests passed, after the report of those that did not.
fn ensure_success(outcome: &Outcome) -> Result<()> {
    if !outcome.is_success {
        eprintln!("{}", outcome.report());
        bail!("{}", outcome.failure());
    }
    Ok(())
}

/// Runs tests with a cargo, which may have variables of its own.
fn run_tests(
    mut command: Command,
    arguments: &[String],
    binaries: Option<&Path>,
) -> Result<Outcome> {
    command
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(arguments);
    command.envs(binaries.map(|folder| ("SVC_PG_BIN", folder)));
    if std::env::var_os(THREADS).is_none() {
        let processors = std::thread::available_parallelism()?.get();
        command.env(THREADS, (processors * THREADS_PER_PROCESSOR).to_string());
    }
    if std::env::var_os(INITDB_CACHE).is_none() {
        command.env(INITDB_CACHE, empty_initdb_cache()?);
    }

    run_command(&mut command, binaries, SILENCE, |_| {})
}

/// Returns the folder of the cluster that most clusters of the tests are copies of. It is emptied, as
/// the present svc-embedded may create another cluster.
fn empty_initdb_cache() -> Result<PathBuf> {
    let folder = root().join("target/initdb");
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(folder),
    }
}

/// Runs a command that runs tests, and passes each line of its output on. Aborts test programs that
/// print nothing for longer than `silence`.
fn run_command(
    command: &mut Command,
    binaries: Option<&Path>,
    silence: Duration,
    mut on_line: impl FnMut(&str),
) -> Result<Outcome> {
    let version = postgres_version(binaries.map(Path::to_owned))?;
    let shown = shown(command);
    eprintln!("$ {shown}");
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{shown}`"))?;
    let lines = lines_of(child.stdout.take().context("the output of cargo")?);
    let mut outcome = Outcome::default();
    let mut has_ended = false;
    let mut last_line = Instant::now();

    loop {
        match lines.recv_timeout(LAST_LINES) {
            Ok(line) => {
                println!("{line}");
                outcome.read(&line);
                on_line(&line);
                last_line = Instant::now();
            }
            // A program that a failed test has left behind holds the output open.
            Err(RecvTimeoutError::Timeout) if has_ended => break,
            Err(RecvTimeoutError::Timeout) => {
                has_ended = child.try_wait()?.is_some();
                if outcome.unfinished > outcome.aborted && last_line.elapsed() > silence {
                    eprintln!("{}", outcome.abort(silence));
                    stuck::abort_programs(child.id());
                    last_line = Instant::now();
                }
            }
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
            if sender
                .send(String::from_utf8_lossy(&line).into_owned())
                .is_err()
            {
                break;
            }
        }
    });

    receiver
}

/// The version of the PostgreSQL on which the tests run.
fn postgres_version(binaries: Option<PathBuf>) -> Result<svc_embedded::Version> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let binaries = runtime
        .block_on(svc_embedded::Binaries::find(binaries))
        .context("the tests need PostgreSQL")?;
    eprintln!(
        "testing on PostgreSQL {} of {}",
        binaries.version(),
        binaries.folder().display()
    );

    Ok(binaries.version())
}

/// The files of the black-box tests.
#[cfg(test)]
fn black_box_files() -> Vec<PathBuf> {
    fn add(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                add(&path, found);
            } else {
                found.push(path);
            }
        }
    }

    let mut found = Vec::new();
    add(&root().join("tests/it"), &mut found);
    found
}

/// Whether a filter such as `reads::nodes::` is a module of the black-box tests. A filter without a
/// match is no error, so its tests would not run.
#[cfg(test)]
fn is_module(filter: &str) -> bool {
    let path = root()
        .join("tests/it")
        .join(filter.trim_end_matches("::").replace("::", "/"));
    path.join("mod.rs").is_file() || path.with_extension("rs").is_file()
}
