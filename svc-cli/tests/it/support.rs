//! The real binary, in folders of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// The longest wait for the end of a command; `svc dev` waits for its program itself.
const GRACE: Duration = Duration::from_secs(60);

/// A folder in which commands run.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

/// The words of a command, and its exit code.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        // Users have such folders too.
        Self {
            folder: tempfile::Builder::new()
                .prefix("svc's größe $1 ")
                .tempdir()
                .expect("a folder"),
        }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        std::fs::write(path, text).expect("a file");
    }

    /// Runs `svc` in the folder.
    pub(crate) fn svc(&self, arguments: &[&str]) -> Said {
        self.svc_in(".", arguments)
    }

    /// Runs `svc` in a folder below.
    pub(crate) fn svc_in(&self, below: &str, arguments: &[&str]) -> Said {
        said(
            command(&self.path(below))
                .args(arguments)
                .output()
                .expect("the binary"),
        )
    }
}

/// The binary, without the settings of the user that runs the tests.
pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svc"));
    command
        .current_dir(folder)
        .env_remove("SVC_DATABASE_URL")
        .env_remove("DATABASE_URL");
    command
}

/// Cargo, without the settings of the user that runs the tests.
pub(crate) fn cargo(folder: &Path) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    // As a user's shell has none of these: build scripts would take them for a change.
    for (name, _) in std::env::vars_os() {
        let is_of_package = name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        });
        if is_of_package {
            cargo.env_remove(name);
        }
    }
    cargo
        .current_dir(folder)
        .env_remove("SVC_DATABASE_URL")
        .env_remove("DATABASE_URL");
    cargo
}

/// Ends a running `svc dev` with all that it has started: its program and its builds have process
/// groups of their own, which it ends itself where it is not killed.
pub(crate) fn end(dev: &mut Child) {
    let is_running = |dev: &mut Child| matches!(dev.try_wait(), Ok(None));
    // The number of a process that has been waited for may be that of another one.
    if is_running(dev) {
        let _ = kill_process(Pid::from_child(dev), Signal::TERM);
    }
    let begun = Instant::now();
    while is_running(dev) && begun.elapsed() < GRACE {
        std::thread::sleep(Duration::from_millis(10));
    }
    // It may have ended.
    let _ = dev.kill();
    let _ = dev.wait();
}

pub(crate) fn said(output: Output) -> Said {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    Said {
        code: output.status.code(),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

impl Said {
    /// The output of a command that succeeds.
    #[track_caller]
    pub(crate) fn good(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self.out
    }

    /// The words of a command that fails, which says so and prints no data.
    #[track_caller]
    pub(crate) fn bad(self) -> String {
        self.failed(1)
    }

    /// The words of a command with an argument that is wrong by itself.
    #[track_caller]
    pub(crate) fn misused(self) -> String {
        self.failed(2)
    }

    #[track_caller]
    fn failed(self, code: i32) -> String {
        assert_eq!(
            (self.code, self.out.as_str()),
            (Some(code), ""),
            "{}",
            self.err
        );
        assert!(
            self.err.starts_with("error: ") || self.err.contains("\nerror: "),
            "{}",
            self.err
        );
        self.err
    }
}
