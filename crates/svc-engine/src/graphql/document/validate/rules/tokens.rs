//! The tokens of a document, as far as they are needed to correct the mistakes of apollo's parser.

/// A token by its position in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Name,
    /// A string or a block string.
    Text,
    Number,
    /// Any other byte.
    Mark(u8),
}

/// All tokens, or `None` if there are more than `most`. White space, commas and comments are
/// skipped.
pub(super) fn tokens(text: &str, most: usize) -> Option<Vec<Token>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut start = 0;

    while let Some(&first) = bytes.get(start) {
        let (kind, end) = match first {
            b' ' | b'\t' | b'\n' | b'\r' | b',' => (None, start + 1),
            // A byte order mark.
            0xEF if bytes[start..].starts_with(b"\xEF\xBB\xBF") => (None, start + 3),
            b'#' => (
                None,
                find(bytes, start, |byte| matches!(byte, b'\n' | b'\r')),
            ),
            b'"' => (Some(Kind::Text), text_end(bytes, start)),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                (Some(Kind::Name), find(bytes, start, |byte| !is_name(byte)))
            }
            b'0'..=b'9' | b'-' => {
                let inside = |byte| is_name(byte) || matches!(byte, b'.' | b'+' | b'-');
                (
                    Some(Kind::Number),
                    find(bytes, start + 1, |byte| !inside(byte)),
                )
            }
            other => (Some(Kind::Mark(other)), start + 1),
        };

        tokens.extend(kind.map(|kind| Token { start, end, kind }));
        start = end;

        if tokens.len() > most {
            return None;
        }
    }

    Some(tokens)
}

fn is_name(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

fn find(bytes: &[u8], start: usize, ends: impl Fn(u8) -> bool) -> usize {
    bytes[start..]
        .iter()
        .position(|byte| ends(*byte))
        .map_or(bytes.len(), |length| start + length)
}

/// The end of a string. An unclosed string ends with its line, an unclosed block string with the
/// document.
fn text_end(bytes: &[u8], start: usize) -> usize {
    let block = bytes[start..].starts_with(b"\"\"\"");
    let mut at = start + if block { 3 } else { 1 };
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        at += match byte {
            // In a block string, a backslash escapes only a triple quote (GraphQL specification,
            // section 2.9.4).
            b'\\' if block && rest.starts_with(b"\\\"\"\"") => 4,
            b'"' if block && rest.starts_with(b"\"\"\"") => return at + 3,
            b'"' if !block => return at + 1,
            b'\n' | b'\r' if !block => return at,
            b'\\' if !block => 2,
            _ => 1,
        };
    }

    bytes.len()
}
