//! A running `svc dev`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::support::command;
use crate::templates::{Project, target};

/// The longest wait for a line: a build may come before it.
const PATIENCE: Duration = Duration::from_secs(600);

pub(crate) struct Dev {
    child: Child,
    lines: Receiver<String>,
    address: String,
}

impl Dev {
    /// Starts it, and waits until it tells where it serves.
    pub(crate) fn start(project: &Project) -> Self {
        let mut dev = command(&project.folder());
        dev.args(["dev", "--port", "0"]).env("CARGO_TARGET_DIR", target()).stderr(Stdio::piped());
        let mut child = dev.spawn().expect("the binary");
        let (sender, lines) = channel();
        let output = BufReader::new(child.stderr.take().expect("its words"));
        // Read to the end, so that nobody waits for it.
        std::thread::spawn(move || output.lines().map_while(Result::ok).for_each(|line| drop(sender.send(line))));
        let mut dev = Self { child, lines, address: String::new() };
        let line = dev.wait_for("  GraphQL   http://");
        let address = line.trim().trim_start_matches("GraphQL   http://").trim_end_matches("/graphql");
        address.clone_into(&mut dev.address);
        dev
    }

    pub(crate) fn address(&self) -> String {
        self.address.clone()
    }

    /// Waits for a line with this text.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) -> String {
        let mut seen = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => seen.push(line),
                Err(_) => panic!("no `{text}` in {seen:#?}"),
            }
        }
    }

    /// Does something again and again until a line with this text.
    #[track_caller]
    pub(crate) fn while_waiting_for(&self, text: &str, work: impl Fn()) {
        let begun = Instant::now();
        loop {
            work();
            match self.lines.try_recv() {
                Ok(line) if line.contains(text) => return,
                Ok(line) => assert!(!line.contains("error: "), "{line}"),
                Err(error) => assert!(begun.elapsed() < PATIENCE, "{error}"),
            }
        }
    }

    /// The whole answer to a query, on a connection of its own, which is never refused.
    pub(crate) fn ask(&self, query: &str) -> String {
        let body = serde_json::json!({ "query": query }).to_string();
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        let length = body.len();
        write!(
            stream,
            "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        )
        .expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    /// Asks it to end, as Ctrl-C does.
    pub(crate) fn end(mut self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill").success());
        assert_eq!(self.child.wait().expect("its end").code(), Some(0));
        assert!(TcpStream::connect(&self.address).is_err());
    }

    /// Kills it outright.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("kill");
        self.child.wait().expect("its end");
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
