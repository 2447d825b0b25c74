//! Node and the browser.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// `node SCRIPT` in `tests/js`, with its packages installed.
///
/// # Panics
/// When `cargo xtask setup` has not run.
pub fn node(script: &str) -> Command {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("js");
    assert!(
        folder.join("node_modules/graphql").exists(),
        "the npm packages of tests/js are missing; run `cargo xtask setup`"
    );
    let mut command = Command::new("node");
    command.arg(script).current_dir(folder);
    command
}

/// The standard error of a script that runs beside a test: a pipe of its own, whose lines the test
/// prints.
///
/// Node makes the pipe into which it writes non-blocking, for everyone who has it: given that of
/// the tests, a slow reader of their output would end whoever prints next.
///
/// # Panics
/// When the system has no pipe left.
#[expect(
    clippy::print_stderr,
    reason = "what a script complains of belongs to the test's output"
)]
pub fn node_stderr() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    std::thread::spawn(move || {
        for line in BufReader::new(reader).lines().map_while(Result::ok) {
            eprintln!("node: {line}");
        }
    });
    writer.into()
}

/// The browser.
///
/// # Panics
/// When there is none.
pub fn chromium() -> PathBuf {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let usual = [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ]
    .map(PathBuf::from);
    let found = named.into_iter().chain(usual).find(|path| path.exists());
    found.expect("no Chromium; run `cargo xtask setup`, or name one in the variable CHROMIUM")
}
