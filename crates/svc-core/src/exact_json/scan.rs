//! Searches bytes eight at a time: most texts are short, and calling a vectorized search for them
//! costs more than it saves.

const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

/// The minimum length in bytes that makes a vectorized search worthwhile.
const LONG: usize = 32;

/// Marks the bytes of `word` equal to `byte`. Marks above the lowest may be false positives.
fn marks(word: u64, byte: u8) -> u64 {
    // A byte that is equal becomes zero, and the subtraction sets its high bit. The borrow may also
    // mark the byte above it, which makes the false positives.
    let differs = word ^ (ONES * u64::from(byte));
    differs.wrapping_sub(ONES) & !differs & HIGH
}

/// Marks the bytes of `word` less than `byte`, which is ASCII. Marks above the lowest may be false
/// positives.
fn marks_below(word: u64, byte: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(byte)) & !word & HIGH
}

/// The position of the lowest mark.
fn lowest(marks: u64) -> usize {
    (marks.trailing_zeros() / 8) as usize
}

/// Marks the bytes of `word` that a JSON string must escape. Marks above the lowest may be false
/// positives.
fn marks_special(word: u64) -> u64 {
    marks(word, b'"') | marks(word, b'\\') | marks_below(word, b' ')
}

fn is_special(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// Whether the bytes are ASCII and need no escapes in a JSON string.
pub fn is_plain(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks();
    let is_word = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);

        // A false positive only occurs above a true mark, so zero means that there is no special
        // byte.
        (word & HIGH) | marks_special(word) == 0
    };

    words.iter().all(is_word)
        && match bytes.last_chunk() {
            // It overlaps the words, and costs less than the rest byte by byte.
            Some(last) => is_word(last),
            None => rest
                .iter()
                .all(|byte| byte.is_ascii() && !is_special(*byte)),
        }
}

/// The position of the first byte at or after `at` that a JSON string must escape; the length if
/// there is none.
pub(crate) fn special(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        // In this order the first byte of the text is the lowest byte of the word.
        let word = u64::from_le_bytes(*chunk);
        let found = marks_special(word);
        if found != 0 {
            return at + lowest(found);
        }
        at += 8;
    }

    let rest = bytes.get(at..).unwrap_or_default();
    at + rest
        .iter()
        .position(|byte| is_special(*byte))
        .unwrap_or(rest.len())
}

/// The end of the JSON string that starts at `at`, past its closing quote, and whether it is ASCII
/// without escapes. A string without a closing quote extends to the end of the bytes.
pub fn string_end(bytes: &[u8], at: usize) -> (usize, bool) {
    let (mut at, mut plain) = (at + 1, true);
    let long = at + LONG;
    loop {
        while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
            if at >= long {
                let found = memchr::memchr2(b'"', b'\\', &bytes[at..])
                    .map_or(bytes.len(), |found| at + found);
                plain &= bytes[at..found].is_ascii();
                at = found;
                break;
            }

            let word = u64::from_le_bytes(*chunk);
            let found = marks(word, b'"') | marks(word, b'\\');

            // The bytes below the lowest mark: all of them if there is none.
            let before = if found == 0 {
                u64::MAX
            } else {
                (found & found.wrapping_neg()) - 1
            };

            plain &= word & HIGH & before == 0;
            if found != 0 {
                at += lowest(found);
                break;
            }

            at += 8;
        }

        match bytes.get(at) {
            None => return (bytes.len(), plain),
            Some(b'"') => return (at + 1, plain),
            // A longer escape goes on with digits, which need no special treatment.
            Some(b'\\') => (at, plain) = (at + 2, false),
            Some(byte) => (at, plain) = (at + 1, plain && byte.is_ascii()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{is_plain, special, string_end};

    #[test]
    fn a_byte_is_found_at_every_position() {
        for byte in 0..=255u8 {
            for before in 0..40 {
                for filler in [b'a', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xff] {
                    let mut text = vec![filler; before];
                    text.push(byte);
                    text.extend([filler, 0, b'"', b'\\']);
                    let expected = text
                        .iter()
                        .position(|byte| *byte < b' ' || matches!(byte, b'"' | b'\\'))
                        .unwrap();
                    assert_eq!(
                        special(&text, 0),
                        expected,
                        "{byte} after {before} of {filler}"
                    );

                    assert_eq!(special(&vec![filler; before], 0), before);
                    let head = &text[..=before];
                    assert_eq!(
                        is_plain(head),
                        head.is_ascii() && special(head, 0) == head.len()
                    );

                    // A backslash would escape the byte after it.
                    if byte != b'\\' {
                        let quote = text.iter().position(|byte| *byte == b'"').unwrap();
                        let expected = (quote + 2, text[..quote].is_ascii());
                        assert_eq!(
                            string_end(&[b"\"", &text[..]].concat(), 0),
                            expected,
                            "{byte} after {before}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_string_ends_at_its_quote() {
        for before in 0..70 {
            let a = "a".repeat(before);
            let ascii = |text: &str| string_end(text.as_bytes(), 0);
            assert_eq!(ascii(&format!("\"{a}\",\"")), (before + 2, true));
            assert_eq!(ascii(&format!("\"{a}\\\"\",\"")), (before + 4, false));
            assert_eq!(ascii(&format!("\"{a}\\\\\",\"")), (before + 4, false));
            assert_eq!(ascii(&format!("\"{a}ü\",\"")), (before + 4, false));
            assert_eq!(ascii(&format!("\"{a}\"ü\"")), (before + 2, true));
            assert_eq!(ascii(&format!("\"{a}")), (before + 1, true));
            assert_eq!(ascii(&format!("\"{a}\\")), (before + 2, false));
        }
    }
}
