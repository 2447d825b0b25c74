//! The times of `svc dev`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use svc_embedded::free_port;

use super::project::Project;

/// The longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(300);

/// The field that is added, with its documentation.
const FIELD: &str =
    "    /// The time at which the user joined.\n    pub created_at: DateTime<Utc>,\n";
const TYPES: &str = "src/types/mod.rs";

/// A change that is served.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) time: Duration,
    /// The requests from the change on to the answer.
    pub(super) requests: usize,
    pub(super) refused: usize,
}

/// The time from the end of the build to the first answer, where there is no database anywhere.
pub(super) fn alone(project: &Project) -> Result<Duration> {
    first_answer(
        project,
        project.svc().env("SVC_PG_BIN", "/nowhere"),
        r#"{"data":{"users":[]}"#,
    )
}

/// The same with the project's own database, which is made then.
pub(super) fn embedded(project: &Project) -> Result<Duration> {
    first_answer(project, &mut project.svc(), "Ada Lovelace")
}

fn first_answer(project: &Project, svc: &mut Command, words: &str) -> Result<Duration> {
    // A build without work has no end to measure from.
    project.edit(TYPES, "//! The types", "//! All types")?;
    let dev = Dev::start(svc)?;
    let built = dev.line("Finished `")?;
    dev.answer("{ users { name } }", words)?;
    let time = built.elapsed();
    dev.end()?;
    project.edit(TYPES, "//! All types", "//! The types")?;

    Ok(time)
}

/// The time from a change of one field to the answer that has it, and the requests meanwhile.
pub(super) fn change(project: &Project) -> Result<Change> {
    project.edit(TYPES, FIELD, "")?;
    let dev = Dev::start(&mut project.svc())?;
    dev.answer("{ users { name } }", "Ada Lovelace")?;
    let begun = Instant::now();
    project.edit(TYPES, "}\n", &format!("{FIELD}}}\n"))?;
    let answers = dev.answer("{ users { createdAt } }", r#""createdAt":"2"#)?;
    let change = Change {
        time: begun.elapsed(),
        requests: answers.requests,
        refused: answers.refused,
    };

    dev.end()?;

    Ok(change)
}

/// A `svc dev` that runs.
struct Dev {
    child: Child,
    lines: Receiver<(Instant, String)>,
    port: u16,
}

/// The requests until an answer.
struct Answers {
    requests: usize,
    refused: usize,
}

impl Dev {
    fn start(svc: &mut Command) -> Result<Self> {
        let port = free_port().context("no free port")?;
        let mut child = svc
            .args(["dev", "--port", &port.to_string()])
            .stderr(Stdio::piped())
            .spawn()?;
        let words = BufReader::new(child.stderr.take().context("its words")?);
        let (sender, lines) = channel();

        // Read to the end, so that nobody waits for it.
        std::thread::spawn(move || {
            words
                .lines()
                .map_while(Result::ok)
                .for_each(|line| drop(sender.send((Instant::now(), line))));
        });

        Ok(Self { child, lines, port })
    }

    /// Waits for a line with these words, and returns when it came.
    fn line(&self, words: &str) -> Result<Instant> {
        loop {
            let (moment, line) = self
                .lines
                .recv_timeout(PATIENCE)
                .with_context(|| format!("no `{words}`"))?;
            if line.contains(words) {
                return Ok(moment);
            }
        }
    }

    /// Asks until the answer has these words.
    fn answer(&self, query: &str, words: &str) -> Result<Answers> {
        let begun = Instant::now();
        let mut answers = Answers {
            requests: 0,
            refused: 0,
        };

        loop {
            ensure!(begun.elapsed() < PATIENCE, "no answer with `{words}`");
            answers.requests += 1;
            match self.ask(query) {
                Ok(answer) if answer.contains(words) => return Ok(answers),
                Ok(answer) if !answer.contains("SERVICE_UNAVAILABLE") && !answer.is_empty() => {}
                _ => answers.refused += 1,
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The answer to a query, on a connection of its own.
    fn ask(&self, query: &str) -> Result<String> {
        let body = serde_json::json!({ "query": query }).to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        let head = "POST /graphql HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json";

        write!(
            stream,
            "{head}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;

        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;

        Ok(answer)
    }

    /// Ends it as Ctrl-C does.
    fn end(mut self) -> Result<()> {
        ensure!(
            Command::new("kill")
                .args(["-INT", &self.child.id().to_string()])
                .status()?
                .success()
        );
        ensure!(self.child.wait()?.success(), "`svc dev` failed");
        Ok(())
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
    }
}
