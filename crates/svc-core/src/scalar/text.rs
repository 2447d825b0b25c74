//! The JSON form of scalars: one writer for resolved values, columns and stored JSON.

use std::borrow::Cow;

use async_graphql::Value;
use chrono::{DateTime, Datelike as _, NaiveDate, Timelike as _, Utc};
use rust_decimal::Decimal;
use uuid::Uuid;

use super::calendar::{
    self, extended_date, extended_instant, is_common_era, sql_date, sql_instant,
};
use super::canonical::write_canonical;
use super::kind::ScalarKind;
use super::time_of_day::{instant_without_leap, parse_time, write_time};
use crate::exact_json::{ExactNumber, shorten, write_text};

/// A value that violates the rules of its scalar. The text quotes the value, so it is only for the
/// sender of the value and for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeafError(pub String);

/// The largest integer that a double holds exactly.
const MAX_SAFE_INTEGER: i64 = 1 << 53;

/// Writes an integer.
pub fn write_integer(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// An integer of 64 bits, with or without a sign.
pub fn big_integer(value: i128) -> Option<i128> {
    (i64::MIN.into()..=u64::MAX.into())
        .contains(&value)
        .then_some(value)
}

/// Writes an integer; beyond 2^53, where readers of JSON may lose digits, it is a string.
pub fn write_big_integer(out: &mut Vec<u8>, value: i128) {
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
pub fn write_float(out: &mut Vec<u8>, value: f64) -> Result<(), LeafError> {
    if !value.is_finite() {
        return Err(LeafError(format!(
            "Float cannot represent non numeric value: {value}"
        )));
    }

    // Below this bound, a double holds every integer exactly.
    if value.fract() == 0.0 && value.abs() < 1e15 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the fraction is zero and the size is checked"
        )]
        write_integer(out, value as i64);
    } else {
        out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
    }

    Ok(())
}

/// Writes an instant in UTC.
pub fn write_instant(out: &mut Vec<u8>, value: DateTime<Utc>) {
    // Converted once: each part of a `DateTime` adds the offset again.
    let instant = value.naive_utc();
    let (date, time) = (instant.date(), instant.time());
    let nanos = time.nanosecond();

    // chrono represents a leap second by a nanosecond of a billion or more.
    if !is_common_era(date) || nanos >= 1_000_000_000 {
        write_text(out, &extended_instant(value));
        return;
    }

    // Appended at once, because each part would check the capacity.
    let mut text = *b"\"0000-00-00T00:00:00";
    text[1..11].copy_from_slice(&date_digits(date));
    text[12..14].copy_from_slice(&digits::<2>(time.hour()));
    text[15..17].copy_from_slice(&digits::<2>(time.minute()));
    text[18..].copy_from_slice(&digits::<2>(time.second()));
    out.extend_from_slice(&text);

    if nanos != 0 {
        out.push(b'.');
        match nanos {
            _ if nanos % 1_000_000 == 0 => out.extend_from_slice(&digits::<3>(nanos / 1_000_000)),
            _ if nanos % 1_000 == 0 => out.extend_from_slice(&digits::<6>(nanos / 1_000)),
            _ => out.extend_from_slice(&digits::<9>(nanos)),
        }
    }

    out.extend_from_slice(b"Z\"");
}

/// Writes a date.
pub fn write_date(out: &mut Vec<u8>, value: NaiveDate) {
    if !is_common_era(value) {
        write_text(out, &extended_date(value));
        return;
    }
    out.push(b'"');
    out.extend_from_slice(&date_digits(value));
    out.push(b'"');
}

/// A date as YYYY-MM-DD.
fn date_digits(date: NaiveDate) -> [u8; 10] {
    let mut text = *b"0000-00-00";
    text[..4].copy_from_slice(&digits::<4>(date.year().unsigned_abs()));
    text[5..7].copy_from_slice(&digits::<2>(date.month()));
    text[8..].copy_from_slice(&digits::<2>(date.day()));
    text
}

/// A number with leading zeros.
fn digits<const DIGITS: usize>(mut value: u32) -> [u8; DIGITS] {
    let mut digits = [b'0'; DIGITS];
    for digit in digits.iter_mut().rev() {
        // A digit is below ten.
        *digit += (value % 10) as u8;
        value /= 10;
    }
    digits
}

/// Reads an RFC 3339 instant, as PostgreSQL and clients write it, or one in a year of other than
/// four digits.
pub(crate) fn parse_instant(text: &str) -> Option<DateTime<Utc>> {
    // The common form comes first; the calendar reads all other years.
    let value = DateTime::parse_from_rfc3339(text)
        .ok()
        .map(|value| value.to_utc());
    let value = value
        .filter(|value| is_common_era(value.date_naive()))
        .or_else(|| calendar::parse_instant(text));
    value.map(instant_without_leap)
}

/// Reads a date.
pub(crate) fn parse_date(text: &str) -> Option<NaiveDate> {
    text.parse()
        .ok()
        .filter(|date| is_common_era(*date))
        .or_else(|| calendar::parse_date(text))
}

/// The text that PostgreSQL reads for a date or an instant that it writes in another way than
/// clients do.
pub fn sql_form(kind: ScalarKind, text: &str) -> Option<String> {
    match kind {
        ScalarKind::DateTime => parse_instant(text)
            .filter(|value| !is_common_era(value.date_naive()))
            .map(sql_instant),
        ScalarKind::Date => parse_date(text)
            .filter(|date| !is_common_era(*date))
            .map(sql_date),
        _ => None,
    }
}

/// The canonical text of a scalar that is a JSON string, or why `text` is not one.
pub fn canonical(kind: ScalarKind, text: &str, out: &mut Vec<u8>) -> Result<(), LeafError> {
    if write_canonical(kind, text.as_bytes(), out) {
        Ok(())
    } else {
        parsed(kind, text, out)
    }
}

/// The same through the scalar's type.
pub(super) fn parsed(kind: ScalarKind, text: &str, out: &mut Vec<u8>) -> Result<(), LeafError> {
    use ScalarKind as K;

    let refuse = |what: &str| LeafError(format!("{what}, found {:?}", shorten(text)));
    match kind {
        K::Uuid => {
            let value = Uuid::try_parse(text).map_err(|_| refuse("expected a UUID"))?;
            out.push(b'"');
            out.extend_from_slice(
                value
                    .hyphenated()
                    .encode_lower(&mut Uuid::encode_buffer())
                    .as_bytes(),
            );
            out.push(b'"');
        }
        K::DateTime => {
            write_instant(
                out,
                parse_instant(text).ok_or_else(|| refuse("expected an RFC 3339 date and time"))?,
            );
        }
        K::Date => write_date(
            out,
            parse_date(text).ok_or_else(|| refuse("expected a date as YYYY-MM-DD"))?,
        ),
        K::Time => write_time(
            out,
            parse_time(text).ok_or_else(|| refuse("expected a time as HH:MM:SS"))?,
        ),
        K::Decimal => {
            let plain = plain_decimal(text).ok_or_else(|| refuse("expected a decimal number"))?;
            write_text(out, &plain);
        }
        K::BigInt => {
            let value = text.parse().ok().and_then(big_integer);
            write_big_integer(
                out,
                value.ok_or_else(|| refuse("expected a 64-bit integer"))?,
            );
        }
        _ => write_text(out, text),
    }

    Ok(())
}

/// Whether `text` is a decimal number without an exponent.
pub(crate) fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);

    // Without a point the fraction is 0, so that one check covers both parts.
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    [whole, fraction]
        .iter()
        .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
}

/// The digits of a decimal number; one with an exponent, such as `1e-3`, is written out.
fn plain_decimal(text: &str) -> Option<Cow<'_, str>> {
    if is_decimal(text) {
        return Some(Cow::Borrowed(text));
    }

    let (number, exponent) = text.split_once(['e', 'E'])?;
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let is_exponent = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let number = if is_decimal(number) && is_exponent {
        ExactNumber::of(text)
    } else {
        return None;
    };

    number.plain().map(|plain| Cow::Owned(plain.into_owned()))
}

/// Reads an exact decimal: one with more digits than the type holds is none, as rounding it would
/// be silent.
pub fn parse_decimal(text: &str) -> Option<Decimal> {
    let text = &*plain_decimal(text)?;
    let exact = |text| Decimal::from_str_exact(text).ok();

    // Zeros at the end do not change the value, so they may exceed the digits of the type.
    let shortest = || {
        text.contains('.')
            .then(|| text.trim_end_matches('0').trim_end_matches('.'))
    };
    exact(text).or_else(|| exact(shortest()?))
}

/// Appends the JSON form of `value`.
pub fn write_value(out: &mut Vec<u8>, value: &Value) -> Result<(), LeafError> {
    serde_json::to_writer(out, value).map_err(|error| LeafError(error.to_string()))
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, SecondsFormat, Utc};

    use super::{write_date, write_instant};

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn instants_and_dates_are_as_chrono_writes_them() {
        let seconds = [
            -62_135_596_800,
            -1,
            0,
            59,
            951_782_400,
            1_704_067_199,
            4_102_444_800,
            253_402_300_799,
        ];

        for second in seconds {
            for nanos in [0, 1, 999, 1_000, 123_456_000, 120_000_000, 999_999_999] {
                let value: DateTime<Utc> = DateTime::from_timestamp(second, nanos).unwrap();
                let expected =
                    format!("\"{}\"", value.to_rfc3339_opts(SecondsFormat::AutoSi, true));
                assert_eq!(written(|out| write_instant(out, value)), expected);
                let date = value.date_naive();
                assert_eq!(written(|out| write_date(out, date)), format!("\"{date}\""));
            }
        }
    }
}
