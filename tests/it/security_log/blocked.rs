//! Outputs that are blocked: logging never waits for them.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use svc::SecurityLogConfig;
use svc::security_log::SecurityLogger;
use svc_tests::eventually;

use super::files::{PATIENCE, events, log_in, numbered, numbers};

/// Longer than logging takes, and shorter than any wait for an output.
const SOON: Duration = Duration::from_secs(120);

fn make_pipe(path: &Path) {
    assert!(
        Command::new("mkfifo")
            .arg(path)
            .status()
            .expect("the program mkfifo")
            .success()
    );
}

/// Opening a pipe that nobody reads waits, like a disk that does not answer.
#[test]
fn a_blocked_disk_delays_no_logging_thread() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("security.log");
    make_pipe(&path);
    let (log, text, start) = (log_in(&path), "x".repeat(450), Instant::now());
    for number in 0..6_000 {
        log.log_event(
            numbered(number)
                .reason(text.as_str())
                .resource(text.as_str()),
        );
    }
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    let status = log.status();
    assert!(
        status.lost > 0 && status.waiting <= 2 * (4 << 20),
        "{status:?}"
    );
    assert!(!log.flush(Duration::from_millis(10)));
    // What was accepted is there for whoever reads at last.
    let reading = std::thread::spawn(move || {
        let (mut text, mut pipe) = (String::new(), fs::File::open(path).unwrap());
        pipe.read_to_string(&mut text).unwrap();
        text
    });
    assert!(log.flush(PATIENCE));
    drop(log);
    let text = reading.join().unwrap();
    let lines = text.lines().count() as u64;
    assert_eq!(
        lines,
        6_000 - status.lost + 1,
        "with the line that counts the others"
    );
    assert!(text.contains("system.events_lost"));
}

/// Standard output is a pipe that nobody reads: the file has everything all the same.
#[tokio::test]
async fn an_unread_standard_output_does_not_delay_the_file() {
    const ALONE: &str = "SVC_TESTS_STUCK_STDOUT";
    if let Some(path) = std::env::var_os(ALONE) {
        let log = SecurityLogger::new(SecurityLogConfig {
            path: Some(path.into()),
            stdout: true,
        });
        (0..5_000).for_each(|number| log.log_event(numbered(number)));
        // Ended by whoever has started it.
        std::future::pending::<()>().await;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("security.log");
    let name = "security_log::blocked::an_unread_standard_output_does_not_delay_the_file";
    let mut child = Command::new(std::env::current_exe().unwrap());
    let child = child
        .args(["--exact", name, "--nocapture"])
        .env(ALONE, &path)
        .stdout(Stdio::piped());
    let mut child = child
        .stderr(Stdio::null())
        .spawn()
        .expect("the test program");
    eventually(async || {
        let found = fs::read_to_string(&path)
            .unwrap_or_default()
            .matches('\n')
            .count();
        if found == 5_000 {
            Ok(())
        } else {
            Err(format!("{found} of 5000"))
        }
    })
    .await;
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(numbers(&events(&path)), (0..5_000).collect::<Vec<_>>());
}

/// The reader of standard output is gone. The file goes on, and the status reports it.
#[tokio::test]
#[expect(clippy::exit, reason = "the report of the test has nowhere to go")]
async fn a_closed_standard_output_does_not_end_the_file() {
    const ALONE: &str = "SVC_TESTS_CLOSED_STDOUT";
    if let Some(path) = std::env::var_os(ALONE) {
        let log = SecurityLogger::new(SecurityLogConfig {
            path: Some(path.into()),
            stdout: true,
        });
        eventually(async || {
            log.log_event(numbered(0));
            log.status().failure.ok_or_else(|| "no failure".to_owned())
        })
        .await;
        (1..100).for_each(|number| log.log_event(numbered(number)));
        assert!(!log.flush(PATIENCE), "a part of it is lost");
        assert!(
            log.status().lost >= 100 && log.status().waiting == 0,
            "{:?}",
            log.status()
        );
        std::process::exit(7);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("security.log");
    let name = "security_log::blocked::a_closed_standard_output_does_not_end_the_file";
    let mut child = Command::new(std::env::current_exe().unwrap());
    let child = child
        .args(["--exact", name, "--nocapture"])
        .env(ALONE, &path)
        .stdout(Stdio::piped());
    let mut child = child
        .stderr(Stdio::null())
        .spawn()
        .expect("the test program");
    let mut begun = BufReader::new(child.stdout.take().expect("a pipe"));
    while !begun
        .by_ref()
        .lines()
        .next()
        .expect("a line")
        .unwrap()
        .starts_with("running")
    {}
    drop(begun);
    assert_eq!(child.wait().unwrap().code(), Some(7));
    let mut found = numbers(&events(&path));
    found.dedup();
    assert_eq!(found, (0..100).collect::<Vec<_>>());
}
