//! The JSON form of scalars: one writer for resolved values, columns and stored JSON.

use async_graphql::Value;
use chrono::{DateTime, Datelike as _, NaiveDate, NaiveTime, SecondsFormat, Utc};
use rust_decimal::Decimal;
use uuid::Uuid;

/// A value that breaks its scalar; the text is for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeafError(pub(crate) String);

/// The largest integer that a double holds exactly.
const MAX_SAFE_INTEGER: i64 = 1 << 53;

/// At most 80 characters of a text that goes into a message.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Writes `text` as a JSON string.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut start = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        if byte >= b' ' && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[start..index]);
        start = index + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
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
    out.extend_from_slice(&bytes[start..]);
    out.push(b'"');
}

/// Writes an integer.
pub(crate) fn write_integer(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Writes an integer that may lie beyond what JSON readers hold exactly; beyond 2^53 it is a string.
pub(crate) fn write_big_integer(out: &mut Vec<u8>, value: i128) {
    let quoted = value.unsigned_abs() > MAX_SAFE_INTEGER.unsigned_abs().into();
    if quoted {
        out.push(b'"');
    }
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    if quoted {
        out.push(b'"');
    }
}

/// Writes a finite double in its shortest form, integers without a fraction.
pub(crate) fn write_float(out: &mut Vec<u8>, value: f64) -> Result<(), LeafError> {
    if !value.is_finite() {
        return Err(LeafError(format!("Float cannot represent non numeric value: {value}")));
    }
    if value.fract() == 0.0 && value.abs() < 1e15 {
        #[expect(clippy::cast_possible_truncation, reason = "the fraction is zero and the size is checked")]
        write_integer(out, value as i64);
    } else {
        out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
    }
    Ok(())
}

/// Writes an instant in UTC.
pub(crate) fn write_instant(out: &mut Vec<u8>, value: DateTime<Utc>) {
    use std::io::Write as _;
    // Writing to a Vec cannot fail.
    let _ = write!(out, "\"{}\"", value.to_rfc3339_opts(SecondsFormat::AutoSi, true));
}

/// Writes a date.
pub(crate) fn write_date(out: &mut Vec<u8>, value: NaiveDate) {
    use std::io::Write as _;
    let _ = write!(out, "\"{value}\"");
}

/// Writes a time of day.
pub(crate) fn write_time(out: &mut Vec<u8>, value: NaiveTime) {
    use std::io::Write as _;
    let _ = write!(out, "\"{value}\"");
}

/// Reads an RFC 3339 instant, as PostgreSQL and clients write it.
pub(crate) fn parse_instant(text: &str) -> Option<DateTime<Utc>> {
    let value = DateTime::parse_from_rfc3339(text).ok()?.to_utc();
    is_common_era(value.date_naive()).then_some(value)
}

/// Reads a date of four digits for the year.
pub(crate) fn parse_date(text: &str) -> Option<NaiveDate> {
    text.parse().ok().filter(|date| is_common_era(*date))
}

/// The years that RFC 3339 and PostgreSQL both have.
fn is_common_era(date: NaiveDate) -> bool {
    (1..=9999).contains(&date.year())
}

/// The canonical text of a scalar that is a JSON string, or why `text` is not one.
pub(crate) fn canonical(kind: super::ScalarKind, text: &str, out: &mut Vec<u8>) -> Result<(), LeafError> {
    use super::ScalarKind as K;
    let refuse = |what: &str| LeafError(format!("{what}, found {:?}", shorten(text)));
    match kind {
        K::Uuid => {
            let value = Uuid::try_parse(text).map_err(|_| refuse("expected a UUID"))?;
            out.push(b'"');
            out.extend_from_slice(value.hyphenated().encode_lower(&mut Uuid::encode_buffer()).as_bytes());
            out.push(b'"');
        }
        K::DateTime => {
            write_instant(out, parse_instant(text).ok_or_else(|| refuse("expected an RFC 3339 date and time"))?);
        }
        K::Date => write_date(out, parse_date(text).ok_or_else(|| refuse("expected a date as YYYY-MM-DD"))?),
        K::Time => write_time(out, text.parse().map_err(|_| refuse("expected a time as HH:MM:SS"))?),
        K::Decimal => {
            if !is_decimal(text) {
                return Err(refuse("expected a decimal number"));
            }
            write_text(out, text);
        }
        K::BigInt => {
            write_big_integer(out, text.parse::<i64>().map_err(|_| refuse("expected a 64-bit integer"))?.into());
        }
        _ => write_text(out, text),
    }
    Ok(())
}

/// Whether `text` is a decimal number without an exponent.
pub(crate) fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    [whole, fraction].iter().all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
}

/// Reads an exact decimal: one with more digits than the type holds is none, as rounding it would be silent.
pub(crate) fn parse_decimal(text: &str) -> Option<Decimal> {
    if !is_decimal(text) {
        return None;
    }
    let exact = |text| Decimal::from_str_exact(text).ok();
    let shortest = || text.contains('.').then(|| text.trim_end_matches('0').trim_end_matches('.'));
    exact(text).or_else(|| exact(shortest()?))
}

/// The integer in a JSON number, also when it is written as `3.0`.
pub(crate) fn integer(number: &serde_json::Number) -> Option<i64> {
    if let Some(value) = number.as_i64() {
        return Some(value);
    }
    let value = number.as_f64()?;
    #[expect(clippy::cast_possible_truncation, reason = "the fraction is zero and the size is checked")]
    (value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i64)
}

/// Appends the JSON form of `value`.
pub(crate) fn write_value(out: &mut Vec<u8>, value: &Value) -> Result<(), LeafError> {
    serde_json::to_writer(out, value).map_err(|error| LeafError(error.to_string()))
}
