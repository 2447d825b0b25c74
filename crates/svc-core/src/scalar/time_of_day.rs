//! Times of day with the end of the day, and leap seconds, as PostgreSQL reads them: `23:59:60` is
//! `24:00:00`, and any other leap second is the beginning of the next minute.

use chrono::{DateTime, NaiveTime, TimeDelta, Timelike as _, Utc};

/// The nanosecond from which on a time is within a leap second.
const LEAP: u32 = 1_000_000_000;

/// The end of the day, as `24:00:00`. Chrono has no other time that is after all of a day.
pub fn end_of_day() -> Option<NaiveTime> {
    NaiveTime::from_hms_nano_opt(23, 59, 59, LEAP)
}

/// Reads a time of day.
pub(crate) fn parse_time(text: &str) -> Option<NaiveTime> {
    // chrono rejects the hour 24.
    if let Some(rest) = text.strip_prefix("24:00") {
        let seconds = if rest.is_empty() {
            Some("")
        } else {
            rest.strip_prefix(":00")
        };

        let fraction = seconds.and_then(|rest| {
            if rest.is_empty() {
                Some("0")
            } else {
                rest.strip_prefix('.')
            }
        });

        let is_end = fraction
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|digit| digit == b'0'));
        return if is_end { end_of_day() } else { None };
    }

    without_leap(text.parse().ok()?)
}

/// Writes a time of day.
pub fn write_time(out: &mut Vec<u8>, value: NaiveTime) {
    use std::io::Write as _;
    if Some(value) == end_of_day() {
        out.extend_from_slice(b"\"24:00:00\"");
    } else {
        // Writing to a vector cannot fail.
        let _ = write!(out, "\"{}\"", without_leap(value).unwrap_or(value));
    }
}

/// The instant that PostgreSQL reads for one in a leap second.
pub(super) fn instant_without_leap(value: DateTime<Utc>) -> DateTime<Utc> {
    let before = value
        .nanosecond()
        .checked_sub(LEAP)
        .and_then(|nanos| value.with_nanosecond(nanos));
    before
        .and_then(|before| before.checked_add_signed(TimeDelta::seconds(1)))
        .unwrap_or(value)
}

/// The time that PostgreSQL reads for one in a leap second; `None` after the end of the day.
fn without_leap(value: NaiveTime) -> Option<NaiveTime> {
    if value.nanosecond() < LEAP || Some(value) == end_of_day() {
        return Some(value);
    }
    let before = value.with_nanosecond(value.nanosecond() - LEAP)?;

    // The addition wraps around after the end of the day, which has no next minute.
    match before.overflowing_add_signed(TimeDelta::seconds(1)) {
        (time, 0) => Some(time),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{parse_time, write_time};

    #[test]
    fn times_are_those_that_postgresql_reads() {
        for (text, expected) in [
            ("12:30", Some("12:30:00")),
            ("12:30:00.5", Some("12:30:00.500")),
            ("23:59:59.999999", Some("23:59:59.999999")),
            ("23:59:60", Some("24:00:00")),
            ("24:00", Some("24:00:00")),
            ("24:00:00", Some("24:00:00")),
            ("24:00:00.000", Some("24:00:00")),
            ("12:30:60", Some("12:31:00")),
            ("12:30:60.25", Some("12:31:00.250")),
            ("23:59:60.1", None),
            ("24:00:00.1", None),
            ("24:01", None),
            ("24:000", None),
            ("24:00:00.", None),
            ("24:00:01", None),
            ("25:00", None),
            ("", None),
        ] {
            let written = parse_time(text).map(|time| {
                let mut out = Vec::new();
                write_time(&mut out, time);
                String::from_utf8(out).unwrap()
            });
            assert_eq!(
                written,
                expected.map(|text| format!("\"{text}\"")),
                "{text}"
            );
        }
    }
}
