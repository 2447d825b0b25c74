//! Events as lines: one JSON object each, even if a client's text contains line breaks.

use std::fmt::Write as _;
use std::io;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_json::ser::Formatter;
use serde_json::{Map, Value};

use super::SecurityEvent;

/// The maximum length of a text, in characters; clients choose some of the texts.
const TEXT: usize = 500;
/// The maximum size of the metadata, in bytes.
const METADATA: usize = 8_192;

/// Returns the line of an event without its time: the fields after it.
pub(super) fn fields(event: &SecurityEvent) -> Vec<u8> {
    let mut line = Vec::with_capacity(256);
    let mut serializer = serde_json::Serializer::with_formatter(&mut line, Plain);
    // Serializing texts and numbers to memory never fails.
    let _ = Fields(event).serialize(&mut serializer);
    line
}

/// Appends the line of an event with a time.
pub(super) fn append(line: &mut Vec<u8>, time: DateTime<Utc>, fields: &[u8]) {
    line.extend_from_slice(b"{\"timestamp\":\"");
    line.extend_from_slice(time.to_rfc3339_opts(SecondsFormat::Micros, true).as_bytes());
    line.extend_from_slice(b"\",");

    // The fields are serialized before the queue is locked, and the time is set under the lock, so
    // the two are joined here.
    line.extend_from_slice(fields.strip_prefix(b"{").unwrap_or(fields));
    line.push(b'\n');
}

/// Returns the metadata of an event, truncated as it is written.
pub(super) fn metadata(event: &SecurityEvent) -> Option<Map<String, Value>> {
    if event.metadata.is_empty() {
        return None;
    }

    let cut: Map<_, _> = event
        .metadata
        .iter()
        .map(|(key, value)| (cut(key), cut_value(value)))
        .collect();

    let size = serde_json::to_vec(&cut).map_or(0, |bytes| bytes.len());

    // JSON cannot be cut at any byte, so metadata that is too large gives way to its size.
    Some(if size <= METADATA {
        cut
    } else {
        Map::from_iter([("too_large".to_owned(), size.into())])
    })
}

/// Returns JSON that remains one line in every program that reads it.
#[cfg(feature = "logging")]
pub fn one_line(value: &Value) -> String {
    let mut line = Vec::new();
    // Writing to memory never fails, and the output is UTF-8.
    let _ = value.serialize(&mut serde_json::Serializer::with_formatter(
        &mut line, Plain,
    ));
    String::from_utf8(line).unwrap_or_default()
}

/// Truncates a text to the length that is written.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn cut_value(value: &Value) -> Value {
    match value {
        Value::String(text) => cut(text).into(),
        other => other.clone(),
    }
}

struct Fields<'a>(&'a SecurityEvent);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let event = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("event_type", &cut(event.event_type.as_str()))?;
        map.serialize_entry("severity", event.severity.as_str())?;
        let address = event.ip_address.map(|address| address.to_string());
        let texts = [
            (
                "result",
                Some(&event.result).filter(|result| !result.is_empty()),
            ),
            ("user_id", event.user_id.as_ref()),
            ("user_email", event.user_email.as_ref()),
            ("ip_address", address.as_ref()),
            ("user_agent", event.user_agent.as_ref()),
            ("request_id", event.request_id.as_ref()),
            ("resource", event.resource.as_ref()),
            ("action", event.action.as_ref()),
            ("reason", event.reason.as_ref()),
        ];

        for (name, text) in texts {
            if let Some(text) = text {
                map.serialize_entry(name, &cut(text))?;
            }
        }

        if let Some(metadata) = metadata(event) {
            map.serialize_entry("metadata", &metadata)?;
        }

        map.end()
    }
}

/// Writes JSON that remains one line in every program that reads it. Besides the control characters
/// that JSON escapes anyway, it escapes characters that some programs treat as line ends, and
/// characters that change the text direction in a terminal.
struct Plain;

impl Formatter for Plain {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, found)) = rest.char_indices().find(|(_, letter)| is_unsafe(*letter)) {
            let mut escaped = String::new();
            for unit in found.encode_utf16(&mut [0; 2]) {
                // Writing to a string never fails.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
            writer.write_all(&rest.as_bytes()[..at])?;
            writer.write_all(escaped.as_bytes())?;
            rest = &rest[at + found.len_utf8()..];
        }

        writer.write_all(rest.as_bytes())
    }
}

fn is_unsafe(letter: char) -> bool {
    matches!(letter, '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
