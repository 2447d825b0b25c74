//! Finds the bounds of the parts of a JSON text.

use std::ops::Range;

use svc_core::exact_json::string_end;

/// Returns the bounds of the value of the field at `index` in an object. `after` is the index of an
/// earlier field and the end of its value, so that the values before it are not read again.
pub(crate) fn field_bounds(
    object: &[u8],
    after: Option<(usize, usize)>,
    index: usize,
) -> Option<Range<usize>> {
    let (first, mut at) = match after {
        Some((earlier, end)) => (earlier + 1, past(object, end, b',')),
        None => (0, past(object, 0, b'{')),
    };

    for _ in first..index {
        let value = value_bounds(object, at)?;
        at = past(object, value.end, b',');
    }

    value_bounds(object, at)
}

/// Returns the bounds of the value of the field whose key starts at `at`.
fn value_bounds(object: &[u8], at: usize) -> Option<Range<usize>> {
    if object.get(at) != Some(&b'"') {
        return None;
    }

    let start = past(object, string_end(object, at).0, b':');

    Some(start..value_end(object, start).0)
}

/// Returns the position of the value of the key `name` if this key is at `at`, in the format that
/// PostgreSQL writes.
pub(super) fn past_key(text: &[u8], at: usize, name: &str) -> Option<usize> {
    let (start, end) = (at + 1, at + 1 + name.len());
    // The delimiters are compared first, as that needs no call.
    let around = text.get(at) == Some(&b'"') && text.get(end..end + 3) == Some(b"\": ");
    (around && &text[start..end] == name.as_bytes()).then_some(end + 3)
}

/// Whether a key with its quotes is `wanted`; keys with escapes are decoded, which is rare.
pub(super) fn key_is(key: &[u8], plain: bool, wanted: &str) -> bool {
    let inside = key.get(1..key.len() - 1).unwrap_or_default();
    inside == wanted.as_bytes()
        || (!plain
            && memchr::memchr(b'\\', inside).is_some()
            && serde_json::from_slice::<String>(key).is_ok_and(|name| name == wanted))
}

/// Returns the position after white space, an optional `sign`, and white space again.
pub(super) fn past(text: &[u8], at: usize, sign: u8) -> usize {
    // Fast path for the format that PostgreSQL writes.
    if let Some([first, b' ', next]) = text.get(at..at + 3)
        && *first == sign
        && !next.is_ascii_whitespace()
    {
        return at + 2;
    }

    let at = past_space(text, at);
    if text.get(at) == Some(&sign) {
        past_space(text, at + 1)
    } else {
        at
    }
}

fn past_space(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// Returns the end of the value that starts at `at`, and whether the value is a plain string or a
/// literal.
pub(super) fn value_end(text: &[u8], at: usize) -> (usize, bool) {
    match text.get(at) {
        Some(b'"') => string_end(text, at),
        Some(b'{' | b'[') => (nested_end(text, at), false),
        _ => {
            let rest = text.get(at..).unwrap_or_default();
            let length = rest
                .iter()
                .position(|b| matches!(b, b',' | b'}' | b']') || b.is_ascii_whitespace());
            (at + length.unwrap_or(rest.len()), true)
        }
    }
}

/// Returns the end of the object or list that starts at `at`.
fn nested_end(text: &[u8], mut at: usize) -> usize {
    let mut depth = 0usize;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                at = string_end(text, at).0;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }

        at += 1;
        if depth == 0 {
            return at;
        }
    }

    text.len()
}
