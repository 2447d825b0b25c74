//! The file of the log: lines that stay lines, rotation under load, files that cannot be written.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use svc::SecurityLogConfig;
use svc::security_log::{SecurityEvent, SecurityEventType, SecurityLogger};
use svc_tests::{SetOnDrop, eventually};

/// The time for all to be written.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// A log in a file.
pub(super) fn log_in(path: &Path) -> SecurityLogger {
    SecurityLogger::new(SecurityLogConfig {
        path: Some(path.to_owned()),
        stdout: false,
    })
}

/// An event with a number.
pub(super) fn numbered(number: usize) -> SecurityEvent {
    SecurityEvent::new(SecurityEventType::AuthFailure).metadata("number", number)
}

/// The events of a file, each of which is one line.
pub(super) fn events(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("the log");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}")))
        .collect()
}

/// The numbers of events.
pub(super) fn numbers(events: &[Value]) -> Vec<usize> {
    let number = |event: &Value| {
        event["metadata"]["number"]
            .as_u64()
            .map(|number| usize::try_from(number).unwrap())
    };
    events.iter().filter_map(number).collect()
}

#[test]
fn text_of_clients_stays_within_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("security.log");
    let log = log_in(&path);
    let hostile = [
        "ada\n{\"event_type\":\"auth.success\",\"user_id\":\"admin\"}",
        "\r\n\u{b}\u{c}\u{85}\u{2028}\u{2029}",
        "\u{1b}[2J\u{9b}31m\u{7f}",
        "\u{202e}txt.exe\u{2066}\u{200f}",
        "\",\"user_id\":\"admin\",\"x\":\"\\",
        "\0",
    ];
    for text in hostile {
        let event = SecurityEvent::new(SecurityEventType::AuthFailure)
            .user_id(text)
            .user_agent(text)
            .reason(text);
        log.log_event(event.resource(text).metadata(text, text));
    }
    assert!(log.flush(PATIENCE));
    let written = fs::read_to_string(&path).unwrap();
    let is_plain = |letter: char| {
        !letter.is_control()
            && !matches!(letter, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(
        written
            .chars()
            .all(|letter| letter == '\n' || is_plain(letter)),
        "{written:?}"
    );
    let events = events(&path);
    assert_eq!(events.len(), hostile.len());
    for (event, text) in events.iter().zip(hostile) {
        assert_eq!(
            (&event["event_type"], &event["user_id"]),
            (&"auth.failure".into(), &text.into())
        );
        assert_eq!(event["metadata"][text], text);
    }
}

#[test]
fn a_line_has_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("security.log");
    let log = log_in(&path);
    let long = "ä".repeat(1_000_000);
    let event = SecurityEvent::new(SecurityEventType::AuthFailure)
        .user_id(&long)
        .user_agent(&long)
        .resource(&long);
    let many = (0..10_000).fold(event.clone(), |event, n| {
        event.metadata(format!("key {n}"), n)
    });
    log.log_event(event.metadata("text", long));
    log.log_event(many);
    assert!(log.flush(PATIENCE));
    let written = fs::read_to_string(&path).unwrap();
    assert!(
        written.lines().all(|line| line.len() < 20_000),
        "{}",
        written.len()
    );
    assert_eq!(events(&path).len(), 2);
}

#[test]
fn timestamps_do_not_decrease() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("security.log");
    let log = log_in(&path);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..500).for_each(|number| log.log_event(numbered(number))));
        }
    });
    assert!(log.flush(PATIENCE));
    let times: Vec<_> = events(&path)
        .iter()
        .map(|event| event["timestamp"].as_str().unwrap().to_owned())
        .collect();
    assert!(times.len() == 2_000 && times.is_sorted());
}

#[test]
fn no_line_is_lost_while_the_file_is_rotated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("security.log");
    let (log, is_over) = (log_in(&path), AtomicBool::new(false));
    let mut rotated = Vec::new();
    std::thread::scope(|scope| {
        // The scope ends with its last thread, also if a writer fails.
        let ending = SetOnDrop(&is_over);
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let log = log.clone();
                scope.spawn(move || {
                    for number in (writer..20_000).step_by(4) {
                        log.log_event(numbered(number));
                        // A writer that is far ahead would fill the queue, which is another test.
                        if number % 1_000 < 4 {
                            assert!(log.flush(PATIENCE));
                        }
                    }
                })
            })
            .collect();
        let rotating = scope.spawn(|| {
            let mut rotated = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                let old = folder
                    .path()
                    .join(format!("security.log.{}", rotated.len()));
                if fs::rename(&path, &old).is_ok() {
                    rotated.push(old);
                }
                std::thread::yield_now();
            }
            rotated
        });
        for writer in writers {
            writer.join().unwrap();
        }
        assert!(log.flush(PATIENCE));
        drop(ending);
        rotated = rotating.join().unwrap();
    });
    if path.exists() {
        rotated.push(path);
    }
    assert!(rotated.len() > 2, "{} files", rotated.len());
    let mut found: Vec<_> = rotated
        .iter()
        .flat_map(|file| numbers(&events(file)))
        .collect();
    found.sort_unstable();
    assert_eq!(found, (0..20_000).collect::<Vec<_>>());
    assert_eq!(log.status().lost, 0);
}

#[tokio::test]
async fn events_are_kept_until_the_file_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing").join("security.log");
    let log = log_in(&path);
    (0..100).for_each(|number| log.log_event(numbered(number)));
    let failing = async || log.status().failure.ok_or_else(|| "no failure".to_owned());
    assert!(eventually(failing).await.contains("No such file"));
    assert!(!log.flush(Duration::from_millis(1)) && log.status().waiting > 0);
    fs::create_dir(folder.path().join("missing")).unwrap();
    assert!(log.flush(PATIENCE));
    assert_eq!(numbers(&events(&path)), (0..100).collect::<Vec<_>>());
    assert!(log.status().failure.is_none());
}

/// The line of a process that was killed while it wrote.
#[test]
fn a_line_without_an_end_does_not_spoil_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("security.log");
    fs::write(&path, "{\"timestamp\":\"20").unwrap();
    let log = log_in(&path);
    log.log_event(numbered(1));
    assert!(log.flush(PATIENCE));
    let text = fs::read_to_string(&path).unwrap();
    let (first, second) = text.split_once('\n').unwrap();
    assert_eq!(first, "{\"timestamp\":\"20");
    assert_eq!(
        serde_json::from_str::<Value>(second).unwrap()["metadata"]["number"],
        1
    );
}

#[test]
fn other_users_cannot_read_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("security.log");
    let log = log_in(&path);
    log.log_event(numbered(1));
    assert!(log.flush(PATIENCE));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o027, 0);
}
