//! Output that nobody reads.

use std::fs::File;
use std::process::Stdio;

use svc_tests::Program;

use crate::{command, until_answered};

#[tokio::test]
async fn output_that_cannot_be_written_ends_nothing() {
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };
    for output in [Stdio::from(File::options().write(true).open("/dev/full").unwrap()), closed()] {
        let folder = tempfile::tempdir().unwrap();
        // The address cannot be read.
        let port = svc_embedded::free_port().unwrap();
        let mut start = command(folder.path());
        // A filter that makes it say a great deal.
        start.env("SVC_PORT", port.to_string()).env("RUST_LOG", "debug").stderr(output);
        let mut program = Program::start_mute(&mut start);
        let url = format!("http://127.0.0.1:{port}/graphql");
        let listens =
            async || tokio::net::TcpStream::connect(("127.0.0.1", port)).await.map_err(|error| error.to_string());
        svc_tests::eventually(listens).await;
        until_answered(&url, "{ users { name } }", "Ada").await;
        program.signal("TERM");
        assert_eq!(program.end().0.code(), Some(0));
    }
}
