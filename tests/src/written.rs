//! The search for secrets in what the servers of the tests write.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use memchr::{memchr, memmem, memrchr};
use reqwest::header::{AUTHORIZATION, COOKIE, HeaderMap, SET_COOKIE};
use serde_json::Value;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::filter::{LevelFilter, dynamic_filter_fn};
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, fmt};

/// The shortest secret that is searched for: shorter ones stand in a log by chance.
const MIN_LENGTH: usize = 12;
/// The fields of requests and answers that hold secrets.
const FIELDS: [&str; 6] = [
    "password",
    "current_password",
    "new_password",
    "token",
    "access_token",
    "refresh_token",
];

/// All that was written while somebody watches, and what no server may ever write.
#[derive(Default)]
struct Written {
    text: Vec<u8>,
    /// The bytes that were written before the text.
    before: usize,
    /// The bytes that had been written when each watch began.
    watches: BTreeMap<u64, usize>,
    next: u64,
    secrets: BTreeSet<String>,
}

static WRITTEN: Mutex<Option<Written>> = Mutex::new(None);

/// The number of watches.
static WATCHES: AtomicUsize = AtomicUsize::new(0);

fn written<T>(with: impl FnOnce(&mut Written) -> T) -> T {
    let mut guard: MutexGuard<'_, Option<Written>> =
        WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    with(guard.get_or_insert_default())
}

/// Notes a secret that servers are configured with: none may ever write it.
pub fn secret(secret: impl Into<String>) {
    let secret = secret.into();
    assert!(
        secret.len() >= MIN_LENGTH,
        "a secret that is searched for has at least {MIN_LENGTH} bytes"
    );
    written(|written| written.secrets.insert(secret));
}

/// A layer that keeps what is logged at debug, the fields of spans among it, if somebody watches.
pub(crate) fn layer<S: Subscriber + for<'a> LookupSpan<'a>>() -> impl Layer<S> {
    fmt::layer()
        .with_ansi(false)
        // No terminal shows it, and looking at each character takes long.
        .with_ansi_sanitization(false)
        // A time is no secret.
        .without_time()
        .with_span_events(FmtSpan::NEW)
        .with_writer(|| Pen)
        .with_filter(dynamic_filter_fn(is_kept::<S>).with_max_level_hint(LevelFilter::DEBUG))
}

/// Whether an event is kept. Without a watch none is formatted, as that takes longer than many
/// requests.
fn is_kept<S>(metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
    *metadata.level() <= LevelFilter::DEBUG && WATCHES.load(Ordering::Relaxed) > 0
}

/// Keeps what was written, if somebody watches.
fn keep(bytes: &[u8]) {
    written(|written| {
        if !written.watches.is_empty() {
            written.text.extend_from_slice(bytes);
        }
    });
}

fn has(bytes: &[u8], part: &str) -> bool {
    memmem::find(bytes, part.as_bytes()).is_some()
}

struct Pen;

impl Write for Pen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        keep(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A look at all that is written from its beginning on, for the secrets that its requests bring and
/// their answers give.
#[derive(Debug)]
pub(crate) struct Watch {
    number: u64,
    secrets: Mutex<BTreeSet<String>>,
}

impl Watch {
    pub(crate) fn start() -> Self {
        WATCHES.fetch_add(1, Ordering::Relaxed);
        let number = written(|written| {
            let start = written.before + written.text.len();
            written.next += 1;
            written.watches.insert(written.next, start);
            written.next
        });
        Self {
            number,
            secrets: Mutex::default(),
        }
    }

    /// Notes the secrets of a request.
    pub(crate) fn request(&self, headers: &HeaderMap, body: Option<&[u8]>) {
        for value in headers
            .get_all(AUTHORIZATION)
            .iter()
            .filter_map(|value| value.to_str().ok())
        {
            self.note(
                value
                    .split_once(' ')
                    .map_or(value, |(_, credentials)| credentials),
            );
        }
        for value in headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
        {
            value.split(';').for_each(|cookie| self.note_cookie(cookie));
        }
        self.note_body(body.unwrap_or_default());
    }

    /// Notes the secrets of an answer. One that tells of an error may hold none.
    pub(crate) fn answer(&self, headers: &HeaderMap, body: &[u8]) {
        for value in headers
            .get_all(SET_COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
        {
            self.note_cookie(value.split(';').next().unwrap_or_default());
        }
        self.note_body(body);
        if has(body, "\"errors\":[") || has(body, "\"error\":") {
            keep(&[body, b"\n"].concat());
        }
    }

    fn note_body(&self, body: &[u8]) {
        // Nearly all bodies have none of the fields. A name may have escapes.
        if !["password", "token", "\\u"]
            .iter()
            .any(|part| has(body, part))
        {
            return;
        }
        let Ok(Value::Object(fields)) = serde_json::from_slice(body) else {
            return;
        };
        for secret in FIELDS.iter().filter_map(|name| fields.get(*name)?.as_str()) {
            self.note(secret);
        }
    }

    fn note_cookie(&self, cookie: &str) {
        self.note(cookie.split_once('=').map_or("", |(_, value)| value));
    }

    /// Notes a secret, or each part of a token but its header: the signature alone would be enough.
    fn note(&self, secret: &str) {
        let header = usize::from(secret.matches('.').count() == 2);
        let parts = secret
            .split('.')
            .skip(header)
            .map(str::trim)
            .filter(|part| part.len() >= MIN_LENGTH);
        self.secrets
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(parts.map(str::to_owned));
    }

    /// The secrets that were written, each with what stands around it.
    pub(crate) fn leaks(&self) -> Vec<String> {
        let mut secrets = self
            .secrets
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        // Each line that is logged waits for the lock, so that the search, which may take seconds,
        // is not under it.
        let text = written(|written| {
            let start = written
                .watches
                .get(&self.number)
                .map_or(0, |start| start.saturating_sub(written.before));
            secrets.extend(written.secrets.iter().cloned());
            written.text.get(start..).unwrap_or_default().to_vec()
        });
        let line = |at: usize| {
            let begin = memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
            let end = memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
            String::from_utf8_lossy(&text[begin..end])
        };
        let found = secrets
            .iter()
            .filter_map(|secret| Some((secret, memmem::find(&text, secret.as_bytes())?)));
        found
            .map(|(secret, at)| format!("{secret} is in {}", line(at)))
            .collect()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHES.fetch_sub(1, Ordering::Relaxed);
        written(|written| {
            written.watches.remove(&self.number);
            let end = written.before + written.text.len();
            let needed = written.watches.values().min().copied().unwrap_or(end);
            written.text.drain(..needed - written.before);
            written.before = needed;
        });
    }
}
