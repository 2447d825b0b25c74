//! Another program that uses the crate: this test binary, run once more.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use svc_embedded::{Database, Options};

const ROOT: &str = "SVC_EMBEDDED_TEST_ROOT";

/// A program that has a database and waits.
pub(crate) struct Program {
    pub(crate) child: Child,
    pub(crate) postmaster: i32,
    pub(crate) url: String,
}

/// Runs this test binary as a program over a data root; an empty one means a temporary cluster.
pub(crate) fn command(root: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "program::holds_a_database", "--nocapture"])
        .env(ROOT, root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

impl Program {
    /// Starts the program and waits until it has its database.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok);
        let line = lines
            .into_iter()
            .find(|line| line.contains("postmaster "))
            .expect("a started database");
        let mut words = line.split_once("postmaster ").unwrap().1.split(' ');
        let postmaster = words.next().unwrap().parse().unwrap();
        let url = words.next().unwrap().to_owned();
        Self {
            child,
            postmaster,
            url,
        }
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program. As a test on its own it does nothing.
#[tokio::test]
#[allow(
    clippy::print_stdout,
    reason = "the test that runs the program reads its output"
)]
async fn holds_a_database() {
    let Some(root) = std::env::var_os(ROOT) else {
        return;
    };
    let options = if root.is_empty() {
        Options::temporary()
    } else {
        Options::new(root)
    };
    let database = Database::start(options).await.unwrap();
    println!("postmaster {} {}", database.pid(), database.url());
    let _ = std::io::stdin().read_line(&mut String::new());
    database.stop().await;
}
