//! The log of one test.

use std::io::Write;
use std::sync::{Arc, Mutex};

use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::eventually;

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
        let text = Text::default();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(text.clone()).finish();
        Self { text, _guard: Box::new(subscriber.set_default()) }
    }

    /// The same with everything that the service and its libraries write, down to their traces.
    pub fn everything() -> Self {
        let text = Text::default();
        let builder = tracing_subscriber::fmt().with_ansi(false).with_writer(text.clone());
        let subscriber = builder.with_max_level(tracing_subscriber::filter::LevelFilter::TRACE).finish();
        Self { text, _guard: Box::new(subscriber.set_default()) }
    }

    /// All of it so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.text.0.lock().expect("no panic while it is written")).into_owned()
    }

    /// Waits until the log has this part, for at most ten seconds.
    pub async fn has(&self, part: &str) {
        let found =
            async || if self.text().contains(part) { Ok(()) } else { Err(format!("no {part} in {}", self.text())) };
        eventually(found).await;
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic while it is written").extend_from_slice(bytes);
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
