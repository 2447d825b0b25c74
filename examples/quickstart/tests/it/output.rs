//! Output that nobody reads.

use std::fs::File;
use std::process::Stdio;

use svc_tests::Program;

use crate::{command, until_answered};

#[tokio::test]
async fn unwritable_output_does_not_end_the_program() {
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };

    for output in [
        Stdio::from(File::options().write(true).open("/dev/full").unwrap()),
        closed(),
    ] {
        let folder = tempfile::tempdir().unwrap();
        // The address cannot be read.
        let port = svc_embedded::free_port().unwrap();
        let mut start = command(folder.path());
        // A filter that makes it say a great deal.
        start
            .env("SVC_PORT", port.to_string())
            .env("RUST_LOG", "debug")
            .stderr(output);
        let mut program = Program::start_mute(&mut start);
        let url = format!("http://127.0.0.1:{port}/graphql");
        let listens = async || {
            tokio::net::TcpStream::connect(("127.0.0.1", port))
                .await
                .map_err(|error| error.to_string())
        };
        svc_tests::eventually(listens).await;
        until_answered(&url, "{ users { name } }", "Ada").await;
        program.signal("TERM");
        assert_eq!(program.end().0.code(), Some(0));
    }
}

#[tokio::test]
async fn every_line_is_json_under_the_json_format() {
    let folder = tempfile::tempdir().unwrap();
    let mut start = command(folder.path());
    start.env("SVC_PORT", "0").env("SVC_LOG_FORMAT", "json");
    let mut program = Program::start(&mut start);
    program.wait_for("serving http://");
    program.signal("TERM");
    let (status, lines) = program.end();
    assert_eq!(status.code(), Some(0), "{lines:#?}");
    let objects: Vec<serde_json::Value> = lines
        .iter()
        .map(|line| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line:?}"))
        })
        .collect();

    assert!(
        objects.iter().all(|line| line["message"].is_string()),
        "{lines:#?}"
    );
    let started = objects
        .iter()
        .find(|line| line["event_type"] == "system.started")
        .unwrap();
    assert_eq!(started["message"], "system.started");
    let serving = objects
        .iter()
        .find(|line| {
            line["message"]
                .as_str()
                .unwrap()
                .starts_with("serving http://")
        })
        .unwrap();

    assert_eq!(serving["level"], "INFO");
}
