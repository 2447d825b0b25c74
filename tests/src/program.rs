//! A program that a test runs: what it writes, the signals it gets, and how it ends.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// The longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running program; killed when the value is dropped.
pub struct Program {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Program {
    /// Starts it, and reads its standard error.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program");
        let lines = child.stderr.take().map_or_else(|| channel().1, lines);
        Self {
            child,
            lines,
            seen: Vec::new(),
        }
    }

    /// Starts it with a standard error of the test's own.
    pub fn start_mute(command: &mut Command) -> Self {
        Self {
            child: command.stdin(Stdio::null()).spawn().expect("the program"),
            lines: channel().1,
            seen: Vec::new(),
        }
    }

    /// Waits for a line that contains a text, and returns it.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) -> String {
        self.wait_for_any(&[text])
    }

    /// Waits for a line that contains one of the texts, and returns it.
    #[track_caller]
    pub fn wait_for_any(&mut self, texts: &[&str]) -> String {
        let end = Instant::now() + PATIENCE;
        while let Ok(line) = self
            .lines
            .recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            self.seen.push(line.clone());
            if texts.iter().any(|text| line.contains(text)) {
                return line;
            }
        }
        panic!("no {texts:?} in {:#?}", self.seen)
    }

    /// Waits until it serves, and returns the URL.
    #[track_caller]
    pub fn url(&mut self) -> String {
        const SERVING: &str = "serving http://";
        let seen = self
            .seen
            .iter()
            .find(|line| line.contains(SERVING))
            .cloned();
        let line = seen.unwrap_or_else(|| self.wait_for(SERVING));
        line.trim_start_matches("serving ").to_owned()
    }

    /// The number of its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal, such as `TERM`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &self.pid().to_string()])
            .status();
        assert!(sent.is_ok_and(|status| status.success()), "kill -{name}");
    }

    /// Waits for its end; returns how it ended, and all that it wrote.
    #[track_caller]
    pub fn end(&mut self) -> (ExitStatus, Vec<String>) {
        let begun = Instant::now();
        let status = loop {
            match self.child.try_wait().expect("its end") {
                Some(status) => break status,
                None => assert!(
                    begun.elapsed() < PATIENCE,
                    "it still runs: {:#?}",
                    self.seen
                ),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        self.seen.extend(self.lines.iter());
        (status, std::mem::take(&mut self.seen))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // A program that has ended needs no end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of a stream, which is read to its end, so that nobody waits for it.
pub fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    let read = move || {
        BufReader::new(stream)
            .lines()
            .map_while(Result::ok)
            .for_each(|line| drop(sender.send(line)));
    };
    std::thread::spawn(read);
    lines
}
