//! Texts in JSON and in messages.

use super::scan::special;

/// Shortens a text for a message to at most 80 characters.
pub fn shorten(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Writes `text` as a JSON string.
pub fn write_text(out: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";

    out.push(b'"');
    let bytes = text.as_bytes();
    let mut start = 0;
    loop {
        let index = special(bytes, start);

        // RFC 8259, section 7: characters beyond ASCII need no escape.
        out.extend_from_slice(&bytes[start..index]);
        let Some(&byte) = bytes.get(index) else { break };
        start = index + 1;

        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
            // The others are control characters below 32, whose first two digits are zeros.
            _ => out.extend_from_slice(&[
                b'\\',
                b'u',
                b'0',
                b'0',
                HEX[usize::from(byte >> 4)],
                HEX[usize::from(byte & 15)],
            ]),
        }
    }

    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_as_serde_writes_them() {
        for special in [
            "\"", "\\", "\n", "\r", "\t", "\u{8}", "\u{c}", "\0", "\u{1f}", "\u{7f}", "ü", "😀",
            "/",
        ] {
            for before in 0..40 {
                let text = format!("{}{special}{}", "a".repeat(before), "b".repeat(before % 19));
                let mut out = Vec::new();
                write_text(&mut out, &text);
                assert_eq!(out, serde_json::to_vec(&text).unwrap());
            }
        }
    }
}
