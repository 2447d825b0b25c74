//! The security log of the real program, which a rotation moves away.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use svc_tests::eventually;

use crate::{Blog, command};

/// Waits until a file has so many events of a type.
async fn has(path: &Path, event_type: &str, count: usize) {
    eventually(async || {
        let text = fs::read_to_string(path).unwrap_or_default();
        let events = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let found = events
            .filter(|event| event["event_type"] == event_type)
            .count();

        if found == count {
            Ok(())
        } else {
            Err(format!("{count} of {event_type}, but {text:?}"))
        }
    })
    .await;
}

/// Sends what a form of another site could.
async fn forge(blog: &Blog) {
    let request = svc_tests::client()
        .post(&blog.url)
        .header("content-type", "text/plain")
        .body("{}");
    assert_eq!(request.send().await.unwrap().status(), 403);
}

#[tokio::test]
async fn a_hangup_opens_the_security_log_again() {
    let folder = tempfile::tempdir().unwrap();
    let (path, old) = (
        folder.path().join("security.log"),
        folder.path().join("security.log.1"),
    );
    let blog = Blog::start_with(command(folder.path()).env("SVC_SECURITY_LOG_PATH", &path));
    forge(&blog).await;
    has(&path, "csrf.form", 1).await;
    fs::rename(&path, &old).unwrap();
    assert!(
        Command::new("kill")
            .args(["-HUP", &blog.child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );

    forge(&blog).await;
    has(&path, "csrf.form", 1).await;
    has(&old, "csrf.form", 1).await;
    has(&old, "system.started", 1).await;
    assert_eq!(blog.terminate(), Some(0));

    has(&path, "system.stopped", 1).await;
}

/// By default the file is where the program was started, and is made for the first event.
#[tokio::test]
async fn without_settings_there_is_a_file_beside_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let blog = Blog::start(folder.path());
    has(
        &folder.path().join("security_events.log"),
        "system.started",
        1,
    )
    .await;

    assert_eq!(blog.terminate(), Some(0));
}
