//! A fast path for texts of scalars that PostgreSQL already writes in canonical form, or nearly so:
//! these are not parsed. All other texts are parsed by their types.

use super::ScalarKind;
use crate::exact_json::special;

/// Writes a JSON string for `text` when it is plainly in the form of the scalar; false, with
/// nothing written, when that has to be found out by parsing it.
pub fn write_canonical(kind: ScalarKind, text: &[u8], out: &mut Vec<u8>) -> bool {
    if kind == ScalarKind::DateTime {
        return write_instant(text, out);
    }
    let ready = is_canonical(kind, text);
    if ready {
        quote(out, &[text]);
    }
    ready
}

/// Whether `text` is plainly in the form of the scalar.
pub fn is_canonical(kind: ScalarKind, text: &[u8]) -> bool {
    match kind {
        ScalarKind::Uuid => is_uuid(text),
        ScalarKind::Date => is_date(text),
        ScalarKind::Time => is_time(text),
        _ => false,
    }
}

fn quote(out: &mut Vec<u8>, parts: &[&[u8]]) {
    out.push(b'"');
    for part in parts {
        out.extend_from_slice(part);
    }
    out.push(b'"');
}

/// Whether a JSON number is an integer of at most `digits` digits that an integer would be written
/// as.
pub fn is_integer(number: &[u8], digits: usize) -> bool {
    match number.strip_prefix(b"-").unwrap_or(number) {
        // `-0` is written as `0`.
        [b'0'] => number.len() == 1,
        [b'1'..=b'9', rest @ ..] => rest.len() < digits && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// Whether the inside of a JSON string is escaped as `write_text` would do it.
pub fn is_escaped_once(mut inside: &[u8]) -> bool {
    loop {
        inside = match &inside[special(inside, 0)..] {
            [] => return true,
            [b'\\', b'"' | b'\\' | b'n' | b'r' | b't' | b'b' | b'f', rest @ ..] => rest,
            [b'\\', b'u', b'0', b'0', high @ (b'0' | b'1'), low @ (b'0'..=b'9' | b'a'..=b'f'), rest @ ..]
                // `write_text` writes these characters with a letter, such as `\n`.
                if !(*high == b'0' && matches!(low, b'8' | b'9' | b'a' | b'c' | b'd')) =>
            {
                rest
            }
            _ => return false,
        };
    }
}

/// In lower case with hyphens.
fn is_uuid(text: &[u8]) -> bool {
    let Ok(text): Result<&[u8; 36], _> = text.try_into() else {
        return false;
    };

    // Without an early end and counted in bytes, the compiler compares many bytes at once.
    let digits: u8 = text
        .iter()
        .map(|byte| u8::from(byte.is_ascii_digit() | (b'a'..=b'f').contains(byte)))
        .sum();

    digits == 32 && [8, 13, 18, 23].iter().all(|index| text[*index] == b'-')
}

/// A number of two digits up to `most`.
fn pair(text: &[u8], most: u8) -> Option<u8> {
    let [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] = text else {
        return None;
    };
    Some((tens - b'0') * 10 + (ones - b'0')).filter(|value| *value <= most)
}

/// A date of four digits for the year, but for the leap day.
fn is_date(text: &[u8]) -> bool {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else {
        return false;
    };

    let year = [y1, y2, y3, y4];
    let days = match pair(&[*m1, *m2], 12) {
        None | Some(0) => return false,
        // The leap day is left to the parser, which has the rules for leap years.
        Some(2) => 28,
        Some(4 | 6 | 9 | 11) => 30,
        Some(_) => 31,
    };

    year.iter().all(|digit| digit.is_ascii_digit())
        // The year 0000 is 1 BC, which PostgreSQL writes in another form.
        && year.iter().any(|digit| **digit != b'0')
        && matches!(pair(&[*d1, *d2], days), Some(1..))
}

/// To the second.
fn is_time(text: &[u8]) -> bool {
    let [h1, h2, b':', m1, m2, b':', s1, s2] = text else {
        return false;
    };

    // A leap second and `24:00:00` are left to the parser, which writes them in another form.
    pair(&[*h1, *h2], 23).is_some()
        && pair(&[*m1, *m2], 59).is_some()
        && pair(&[*s1, *s2], 59).is_some()
}

/// An instant in UTC: its offset becomes `Z`, and a fraction gets three or six digits.
fn write_instant(text: &[u8], out: &mut Vec<u8>) -> bool {
    // PostgreSQL writes `+00:00` for UTC; any other offset needs a calculation.
    let Some(local) = text
        .strip_suffix(b"Z")
        .or_else(|| text.strip_suffix(b"+00:00"))
    else {
        return false;
    };

    let Some((date, rest)) = local.split_at_checked(10) else {
        return false;
    };

    let Some((b'T', rest)) = rest.split_first().map(|(first, rest)| (*first, rest)) else {
        return false;
    };

    let Some((time, fraction)) = rest.split_at_checked(8) else {
        return false;
    };
    if !is_date(date) || !is_time(time) {
        return false;
    }

    let zeros: &[u8] = match fraction {
        [] => b"",
        // A fraction that ends with a zero has a shorter form, which the parser finds.
        [b'.', digits @ .., b'1'..=b'9']
            if digits.len() < 6 && digits.iter().all(u8::is_ascii_digit) =>
        {
            // The pattern has taken the last digit, so `digits` is one shorter than the fraction.
            &b"00"[..(5 - digits.len()) % 3]
        }
        _ => return false,
    };

    quote(out, &[local, zeros, b"Z"]);

    true
}

#[cfg(test)]
mod tests {
    use super::super::text::parsed;
    use super::{ScalarKind, is_escaped_once, is_integer, write_canonical};

    /// Checks that parsing a text gives the same bytes if it is ready, and returns whether it is.
    fn agrees(kind: ScalarKind, text: &str) -> bool {
        let (mut ready, mut long) = (Vec::new(), Vec::new());
        let is_canonical = write_canonical(kind, text.as_bytes(), &mut ready);
        if is_canonical {
            parsed(kind, text, &mut long).unwrap();
            assert_eq!(
                String::from_utf8_lossy(&ready),
                String::from_utf8_lossy(&long),
                "{text:?}"
            );
        } else {
            assert!(ready.is_empty(), "{text:?}");
        }

        is_canonical
    }

    /// Texts near `text`: with a byte changed, left out or doubled.
    fn near(text: &str) -> Vec<String> {
        let bytes = text.as_bytes();
        let around =
            |index: usize, middle: &[u8]| [&bytes[..index], middle, &bytes[index + 1..]].concat();
        let mut texts = vec![bytes.to_vec()];

        for (index, byte) in bytes.iter().enumerate() {
            texts.extend(
                b"0123456789abfAFTZtz+-:. \xc3"
                    .iter()
                    .map(|byte| around(index, &[*byte])),
            );
            texts.extend([around(index, b""), around(index, &[*byte; 2])]);
        }

        texts
            .into_iter()
            .filter_map(|text| String::from_utf8(text).ok())
            .collect()
    }

    #[test]
    fn canonical_texts_equal_their_parsed_form() {
        let ready = [
            (ScalarKind::Uuid, "24c9e15e-52af-c47c-225b-757e7bee1f9d"),
            (ScalarKind::Date, "2024-02-28"),
            (ScalarKind::Time, "23:59:59"),
            (ScalarKind::DateTime, "2024-12-28T23:59:59Z"),
            (ScalarKind::DateTime, "0001-01-01T00:00:00+00:00"),
            (ScalarKind::DateTime, "2024-12-28T23:59:59.1+00:00"),
            (ScalarKind::DateTime, "2024-12-28T23:59:59.12+00:00"),
            (ScalarKind::DateTime, "2024-12-28T23:59:59.123+00:00"),
            (ScalarKind::DateTime, "2024-12-28T23:59:59.0001Z"),
            (ScalarKind::DateTime, "2024-12-28T23:59:59.00012Z"),
            (ScalarKind::DateTime, "2024-12-28T23:59:59.000123Z"),
        ];

        for (kind, text) in ready {
            assert!(agrees(kind, text), "{text}");
            for text in near(text) {
                agrees(kind, &text);
            }
        }

        for (kind, text) in [
            (ScalarKind::Uuid, "24C9E15E-52AF-C47C-225B-757E7BEE1F9D"),
            (ScalarKind::Date, "2023-02-29"),
            (ScalarKind::Time, "23:59:60"),
            (ScalarKind::DateTime, "2024-12-28T23:59:59.120Z"),
            (ScalarKind::DateTime, "2024-12-28T23:59:59.000Z"),
            (ScalarKind::DateTime, "2024-12-28T23:59:59.1234567Z"),
            (ScalarKind::DateTime, "2024-12-28T23:59:59+01:00"),
            (ScalarKind::DateTime, "0000-12-28T23:59:59Z"),
            (ScalarKind::String, "any"),
        ] {
            assert!(!agrees(kind, text), "{text}");
        }
    }

    #[test]
    fn only_canonical_integers_are_passed_through() {
        for text in ["0", "7", "-7", "10", "999999999", "-999999999"] {
            assert!(is_integer(text.as_bytes(), 9), "{text}");
        }

        for text in [
            "",
            "-",
            "-0",
            "00",
            "07",
            "1.0",
            "1e3",
            "1000000000",
            "+1",
            "--1",
            "1-",
            "true",
        ] {
            assert!(!is_integer(text.as_bytes(), 9), "{text}");
        }
    }

    #[test]
    fn only_canonical_escapes_are_passed_through() {
        for code in 0..0x100u32 {
            let text = format!("before {} after", char::from_u32(code).unwrap());
            let written = serde_json::to_string(&text).unwrap();
            assert!(
                is_escaped_once(&written.as_bytes()[1..written.len() - 1]),
                "{written}"
            );
        }

        for text in [
            "\\/",
            "\\u0041",
            "\\u000A",
            "\\u000a",
            "\\u0008",
            "\\u001F",
            "\\u00e4",
            "\\ud83d\\ude00",
            "\\",
        ] {
            assert!(!is_escaped_once(text.as_bytes()), "{text}");
        }
    }
}
