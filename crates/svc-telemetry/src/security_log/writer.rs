//! The threads that write the log: one for each output, so that no output delays another.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use super::file::LogFile;
use super::queue::Queue;

/// The pause before lines that could not be written are retried.
const PAUSE: Duration = Duration::from_millis(200);

/// The destination of lines.
#[derive(Debug, Clone)]
pub(super) enum Output {
    File(PathBuf),
    Stdout,
}

/// A handle to a writing thread.
#[derive(Debug)]
pub(super) struct Writer {
    thread: Thread,
    reopen: Arc<AtomicBool>,
}

impl Writer {
    /// Starts a thread.
    pub(super) fn start(queue: Arc<Queue>, output: Output) -> io::Result<Self> {
        let reopen = Arc::new(AtomicBool::new(false));
        let reopened = reopen.clone();
        let handle = thread::Builder::new()
            .name("svc-security".to_owned())
            .spawn(move || match output {
                Output::File(path) => write_to_file(LogFile::new(path), &queue, &reopened),
                Output::Stdout => write_to_stdout(&queue),
            })?;

        Ok(Self {
            thread: handle.thread().clone(),
            reopen,
        })
    }

    /// Makes the thread reopen the file before the next line.
    pub(super) fn reopen(&self) {
        self.reopen.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Writes to standard output until that fails: once closed, it does not come back.
fn write_to_stdout(queue: &Queue) {
    while let Some(lines) = queue.take() {
        let mut stdout = io::stdout().lock();
        if let Err(error) = stdout.write_all(&lines).and_then(|()| stdout.flush()) {
            queue.abandon(&lines, error.to_string());
            tracing::error!(%error, "cannot write security events to standard output; no more are written to it");
            return;
        }
        queue.done();
    }
}

fn write_to_file(mut file: LogFile, queue: &Queue, reopen: &AtomicBool) {
    while let Some(lines) = queue.take() {
        append(&mut file, &lines, queue, reopen);
    }
}

/// Appends lines, retrying for as long as necessary. Gives up only if the log is closed.
fn append(file: &mut LogFile, lines: &[u8], queue: &Queue, reopen: &AtomicBool) {
    let (mut written, mut has_failed) = (0, false);
    loop {
        if reopen.swap(false, Ordering::Acquire) {
            file.close();
        }

        let Err(error) = file.append(lines, &mut written) else {
            break;
        };

        queue.failed(error.to_string());

        if !has_failed {
            let path = file.path().display();
            tracing::error!(%path, %error, "cannot write the security log; its events are queued");
            has_failed = true;
        }

        if queue.is_closed() {
            // The process stops and must not wait for the disk any longer; the lines count as lost.
            return queue.abandon(&lines[written..], error.to_string());
        }

        // `reopen` unparks the thread, which ends the pause early.
        thread::park_timeout(PAUSE);
    }

    queue.done();

    if has_failed {
        tracing::info!(path = %file.path().display(), "writing the security log again");
    }
}
