//! The log of one test.

use std::io::Write;
use std::sync::{Arc, Mutex};

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt, registry};

use crate::{eventually, written};

/// The log of the thread on which a test runs with its server.
pub struct Log {
    text: Text,
    /// Ends the log when it is dropped.
    _guard: Box<dyn std::any::Any>,
}

#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Begins to keep the log.
    pub fn start() -> Self {
        Self::at(LevelFilter::INFO)
    }

    /// The same with everything that the service and its libraries write, down to their traces.
    pub fn everything() -> Self {
        Self::at(LevelFilter::TRACE)
    }

    fn at(level: LevelFilter) -> Self {
        let text = Text::default();
        let kept = fmt::layer()
            .with_ansi(false)
            .with_writer(text.clone())
            .with_filter(level);
        let subscriber = registry().with(kept).with(written::layer());
        Self {
            text,
            _guard: Box::new(subscriber.set_default()),
        }
    }

    /// All of it so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.text.0.lock().expect("no panic while it is written"))
            .into_owned()
    }

    /// Waits until the log has this part.
    pub async fn has(&self, part: &str) {
        let found = async || {
            if self.text().contains(part) {
                Ok(())
            } else {
                Err(format!("no {part} in {}", self.text()))
            }
        };
        eventually(found).await;
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0
            .lock()
            .expect("no panic while it is written")
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Text {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
