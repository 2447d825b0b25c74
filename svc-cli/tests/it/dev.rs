//! A running `svc dev`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::support::{self, command};
use crate::templates::{Project, target};

/// The longest wait for a line: a build may come before it.
const PATIENCE: Duration = Duration::from_secs(600);

/// The longest time that [`KeepAlive`] keeps a connection between two requests. A server that stops
/// waits a little longer for another request.
const KEPT: Duration = Duration::from_millis(250);

pub(crate) struct Dev {
    child: Child,
    lines: Receiver<String>,
    address: String,
}

impl Dev {
    /// Starts it, and waits until it prints its address.
    pub(crate) fn start(project: &Project) -> Self {
        Self::start_with(project, &[])
    }

    /// The same with settings.
    pub(crate) fn start_with(project: &Project, settings: &[(&str, &str)]) -> Self {
        let mut dev = Self::spawn(project, 0, settings);
        dev.await_address();
        dev
    }

    /// Waits until it prints its address.
    pub(crate) fn await_address(&mut self) {
        let line = self.wait_for("  GraphQL   http://");
        let address = line
            .trim()
            .trim_start_matches("GraphQL   http://")
            .trim_end_matches("/graphql");
        address.clone_into(&mut self.address);
    }

    /// Starts it on a port, and does not wait.
    pub(crate) fn spawn(project: &Project, port: u16, settings: &[(&str, &str)]) -> Self {
        let mut dev = command(&project.folder());
        dev.args(["dev", "--port", &port.to_string()])
            .env("CARGO_TARGET_DIR", target())
            .stderr(Stdio::piped());
        dev.envs(settings.iter().copied());
        let mut child = dev.spawn().expect("the binary");
        let (sender, lines) = channel();
        let output = BufReader::new(child.stderr.take().expect("its words"));
        // Read to the end, so that nobody waits for it.
        std::thread::spawn(move || {
            output
                .lines()
                .map_while(Result::ok)
                .for_each(|line| drop(sender.send(line)));
        });
        Self {
            child,
            lines,
            address: format!("127.0.0.1:{port}"),
        }
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
    pub(crate) fn while_waiting_for(&self, text: &str, mut work: impl FnMut()) {
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
        let length = body.len();
        self.request(&format!(
            "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        ))
    }

    /// The first answer to a query that has a text; until the database is ready there are others.
    #[track_caller]
    pub(crate) fn ask_until(&self, query: &str, text: &str) -> String {
        let begun = Instant::now();
        loop {
            let answer = self.ask(query);
            if answer.contains(text) {
                return answer;
            }
            assert!(begun.elapsed() < PATIENCE, "{answer}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// The whole answer to a browser.
    pub(crate) fn browse(&self) -> String {
        self.request("GET /graphql HTTP/1.1\r\nHost: localhost\r\nAccept: text/html,*/*\r\nConnection: close\r\n\r\n")
    }

    fn request(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.write_all(request.as_bytes()).expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    /// Asks it to end, as Ctrl-C does.
    pub(crate) fn end(mut self) {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-INT", &pid])
                .status()
                .expect("kill")
                .success()
        );
        assert_eq!(self.child.wait().expect("its end").code(), Some(0));
        assert!(TcpStream::connect(&self.address).is_err());
    }

    /// Kills it outright.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("kill");
        self.child.wait().expect("its end");
    }
}

/// A client that keeps its connection between requests until an answer says that it closes, as HTTP
/// libraries do.
pub(crate) struct KeepAlive {
    address: String,
    kept: Option<(BufReader<TcpStream>, Instant)>,
}

impl KeepAlive {
    pub(crate) fn new(dev: &Dev) -> Self {
        Self {
            address: dev.address(),
            kept: None,
        }
    }

    /// The whole answer to a query. A connection that was kept has not ended meanwhile.
    pub(crate) fn ask(&mut self, query: &str) -> String {
        let body = serde_json::json!({ "query": query }).to_string();
        let length = body.len();
        let request = format!(
            "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        );

        let kept = self.kept.take();
        let mut connection = match kept.filter(|(_, since)| since.elapsed() < KEPT) {
            Some((connection, _)) => connection,
            None => BufReader::new(TcpStream::connect(&self.address).expect("a connection")),
        };

        connection
            .get_mut()
            .write_all(request.as_bytes())
            .expect("a request");
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = connection.read_line(&mut head).expect("an answer");
            assert!(
                read > 0,
                "the connection has ended without an answer: {head:?}"
            );
        }

        let lines = head.to_ascii_lowercase();
        let mut lengths = lines
            .lines()
            .filter_map(|line| line.strip_prefix("content-length: "));
        let length: usize = lengths.next().expect("a length").parse().expect("a number");
        let mut body = vec![0; length];
        connection.read_exact(&mut body).expect("the answer's body");
        if !lines.contains("\r\nconnection: close") {
            self.kept = Some((connection, Instant::now()));
        }

        head + &String::from_utf8(body).expect("text")
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        support::end(&mut self.child);
    }
}
