//! Dates and instants in years that RFC 3339 has no four digits for.
//!
//! They are written as ISO 8601 and ECMAScript extend it, with a sign and six digits:
//! `+020000-01-01`. The year 0 is 1 BC. PostgreSQL writes and reads them as `20000-01-01` and
//! `0001-12-31 BC`.

use chrono::{DateTime, Datelike as _, NaiveDate, SecondsFormat, Utc};

/// The first day of PostgreSQL's calendar.
const FIRST: NaiveDate = match NaiveDate::from_ymd_opt(-4713, 11, 24) {
    Some(date) => date,
    None => NaiveDate::MIN,
};

/// Whether the year has four digits in all forms.
pub(super) fn is_common_era(date: NaiveDate) -> bool {
    (1..=9999).contains(&date.year())
}

/// The date in its extended form.
pub(super) fn extended_date(date: NaiveDate) -> String {
    let (year, month, day) = (date.year(), date.month(), date.day());
    match year {
        // ISO 8601 has four digits for the year 0, so it needs no sign.
        0..=9999 => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("{year:+07}-{month:02}-{day:02}"),
    }
}

/// The instant in its extended form.
pub(super) fn extended_instant(value: DateTime<Utc>) -> String {
    format!("{}{}", extended_date(value.date_naive()), time(value))
}

/// The date as PostgreSQL reads it.
pub(crate) fn sql_date(date: NaiveDate) -> String {
    let (era, year) = sql_year(date);
    format!("{year:04}-{:02}-{:02}{era}", date.month(), date.day())
}

/// The instant as PostgreSQL reads it.
pub(crate) fn sql_instant(value: DateTime<Utc>) -> String {
    let date = value.date_naive();
    let (era, year) = sql_year(date);
    format!(
        "{year:04}-{:02}-{:02}{}{era}",
        date.month(),
        date.day(),
        time(value)
    )
}

fn sql_year(date: NaiveDate) -> (&'static str, i32) {
    let year = date.year();
    if year > 0 {
        ("", year)
    } else {
        // PostgreSQL has no year 0: 1 BC is followed by AD 1.
        (" BC", 1 - year)
    }
}

/// From the `T` on.
fn time(value: DateTime<Utc>) -> String {
    let text = value.to_rfc3339_opts(SecondsFormat::AutoSi, true);
    text.find('T')
        .map_or_else(String::new, |at| text[at..].to_owned())
}

/// Reads a date in an extended form, or as PostgreSQL writes it.
pub(super) fn parse_date(text: &str) -> Option<NaiveDate> {
    let (text, before_christ) = text
        .strip_suffix(" BC")
        .map_or((text, false), |text| (text, true));

    // The first character may be the sign of the year.
    let (at, _) = text.char_indices().skip(1).find(|(_, char)| *char == '-')?;
    let (year, rest) = text.split_at(at);
    let (month, day) = rest.strip_prefix('-')?.split_once('-')?;
    let number = |digits: &str, least: usize| -> Option<i32> {
        let is_number = digits.len() >= least && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().ok()).flatten()
    };

    let year = match year.strip_prefix(['+', '-']) {
        // ECMAScript has exactly six digits here and no negative year 0 (ECMA-262, Expanded Years).
        Some(digits) if digits.len() == 6 && !before_christ && year != "-000000" => {
            number(digits, 6)? * if year.starts_with('-') { -1 } else { 1 }
        }
        None if before_christ => 1 - number(year, 4).filter(|year| *year > 0)?,
        // PostgreSQL pads a year to four digits, and no further.
        None if year.len() == 4 || !year.starts_with('0') => number(year, 4)?,
        _ => return None,
    };

    let part = |digits: &str| match digits.len() {
        2 => number(digits, 2).and_then(|part| u32::try_from(part).ok()),
        _ => None,
    };

    // PostgreSQL could not store an earlier date.
    NaiveDate::from_ymd_opt(year, part(month)?, part(day)?).filter(|date| *date >= FIRST)
}

/// Reads an instant in an extended form, or as PostgreSQL writes it.
pub(super) fn parse_instant(text: &str) -> Option<DateTime<Utc>> {
    let (text, era) = text
        .strip_suffix(" BC")
        .map_or((text, ""), |text| (text, " BC"));
    let (date, time) = text.split_once(['T', 't'])?;
    let date = parse_date(&format!("{date}{era}"))?;

    // RFC 3339 only has years of four digits, so its parser reads the time and the offset with
    // another date.
    let known = DateTime::parse_from_rfc3339(&format!("2000-01-01T{time}")).ok()?;
    let value = date
        .and_time(known.time())
        .checked_sub_offset(*known.offset())?
        .and_utc();

    // The offset may have moved the instant before the first day.
    (value.date_naive() >= FIRST).then_some(value)
}

/// Whether a text that PostgreSQL reads as an instant or a time of day is finer than the
/// microseconds that it keeps.
pub fn is_finer_than_micros(text: &str) -> bool {
    fraction(text).is_some_and(|(_, digits)| digits.bytes().skip(6).any(|digit| digit != b'0'))
}

/// The last microsecond that is not after an instant or a time of day.
pub fn to_micros(text: &str) -> String {
    match fraction(text) {
        Some((at, digits)) if digits.len() > 6 => {
            [&text[..at + 6], &text[at + digits.len()..]].concat()
        }
        _ => text.to_owned(),
    }
}

/// The digits behind the point, and where they begin.
fn fraction(text: &str) -> Option<(usize, &str)> {
    let at = text.find('.')? + 1;
    let rest = &text[at..];
    let end = rest
        .find(|char: char| !char.is_ascii_digit())
        .unwrap_or(rest.len());
    Some((at, &rest[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_dates_have_one_form_and_are_read_in_three() {
        for (text, extended, sql) in [
            ("+020000-01-02", "+020000-01-02", "20000-01-02"),
            ("20000-01-02", "+020000-01-02", "20000-01-02"),
            ("0000-12-31", "0000-12-31", "0001-12-31 BC"),
            ("0001-12-31 BC", "0000-12-31", "0001-12-31 BC"),
            ("-000043-03-15", "-000043-03-15", "0044-03-15 BC"),
            ("0044-03-15 BC", "-000043-03-15", "0044-03-15 BC"),
            ("4714-11-24 BC", "-004713-11-24", "4714-11-24 BC"),
            ("+262142-12-31", "+262142-12-31", "262142-12-31"),
        ] {
            let date = parse_date(text).unwrap();
            assert_eq!(
                (extended_date(date), sql_date(date)),
                (extended.to_owned(), sql.to_owned()),
                "{text}"
            );
            let (date, era) = text
                .strip_suffix(" BC")
                .map_or((text, ""), |date| (date, " BC"));
            let instant = parse_instant(&format!("{date}T01:30:00.5+01:00{era}")).unwrap();
            assert_eq!(
                extended_instant(instant),
                format!("{extended}T00:30:00.500Z"),
                "{text}"
            );
        }

        for text in [
            "infinity",
            "-000000-01-01",
            "+20000-01-01",
            "020000-01-01",
            "0000-01-01 BC",
            "4714-11-23 BC",
            "2024-13-01",
            "+262143-01-01",
            "20000-1-1",
            "",
            "-",
            "BC",
            "+0200001-01-01",
            "5874897-12-31",
            "-004713-01-01 BC",
        ] {
            assert_eq!(parse_date(text), None, "{text}");
            assert_eq!(parse_instant(&format!("{text}T00:00:00Z")), None, "{text}");
        }
    }

    #[test]
    fn fractions_are_cut_to_microseconds() {
        for (text, micros) in [
            (
                "2024-01-01T00:00:00.1234567Z",
                Some("2024-01-01T00:00:00.123456Z"),
            ),
            (
                "0044-03-15T00:00:00.123456789Z BC",
                Some("0044-03-15T00:00:00.123456Z BC"),
            ),
            ("12:00:00.0000001", Some("12:00:00.000000")),
            ("2024-01-01T00:00:00.123456000Z", None),
            ("2024-01-01T00:00:00Z", None),
        ] {
            assert_eq!(is_finer_than_micros(text), micros.is_some(), "{text}");
            if let Some(micros) = micros {
                assert_eq!(to_micros(text), micros);
            }
        }
    }
}
