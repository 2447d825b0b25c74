//! The forms in which a duration is read.

use super::Duration;

/// Microseconds, in which all times of day are counted.
const SECOND: i64 = 1_000_000;

/// The sum of the parts so far; `None` when it leaves the range of PostgreSQL's `interval`.
#[derive(Debug, Default)]
struct Sum {
    months: i64,
    days: i64,
    microseconds: i64,
}

impl Sum {
    /// Adds `whole` and a fraction in millionths, both with the number's sign, of a unit.
    fn add(&mut self, Number { whole, millionths }: Number, unit: Unit) -> Option<()> {
        let (total, size) = match unit {
            Unit::Months(size) => (&mut self.months, size),
            Unit::Days(size) => (&mut self.days, size),
            Unit::Seconds(size) => {
                // A millionth of a second is a microsecond, so the size of the unit in seconds is
                // the factor.
                let fraction = millionths.checked_mul(size)?;
                self.microseconds = self.microseconds.checked_add(fraction)?;
                (&mut self.microseconds, size.checked_mul(SECOND)?)
            }
        };

        *total = total.checked_add(whole.checked_mul(size)?)?;
        Some(())
    }

    fn finish(self, negated: bool) -> Option<Duration> {
        let sign = if negated { -1 } else { 1 };
        Some(Duration {
            months: self.months.checked_mul(sign)?.try_into().ok()?,
            days: self.days.checked_mul(sign)?.try_into().ok()?,
            microseconds: self.microseconds.checked_mul(sign)?,
        })
    }
}

/// The unit of a part, and the number of them.
#[derive(Debug, Clone, Copy)]
enum Unit {
    Months(i64),
    Days(i64),
    Seconds(i64),
}

/// A decimal number with up to six fraction digits.
#[derive(Debug, Clone, Copy)]
struct Number {
    whole: i64,
    millionths: i64,
}

/// Reads a number; `fractional` allows a fraction.
fn number(text: &str, fractional: bool) -> Option<Number> {
    let (negative, digits) = signed(text, false);
    let sign = if negative { -1 } else { 1 };
    let (whole, fraction) = digits.split_once(['.', ',']).unwrap_or((digits, "0"));
    let known = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());

    if !known(whole)
        || !known(fraction)
        // PostgreSQL keeps microseconds, so more digits would be rounded without notice.
        || fraction.len() > 6
        || (!fractional && whole.len() != digits.len())
    {
        return None;
    }

    let millionths: i64 = format!("{fraction:0<6}").parse().ok()?;

    Some(Number {
        whole: whole.parse::<i64>().ok()? * sign,
        millionths: millionths * sign,
    })
}

/// `P1Y2M3DT4H5M6.5S`, with an optional sign in front.
pub(super) fn iso(text: &str) -> Option<Duration> {
    let text = text.to_ascii_uppercase();
    let (negated, rest) = signed(&text, false);
    let rest = rest.strip_prefix('P')?;
    let (date, time) = rest
        .split_once('T')
        .map_or((rest, None), |(date, time)| (date, Some(time)));
    if rest.is_empty() || time.is_some_and(str::is_empty) {
        return None;
    }

    let mut sum = Sum::default();
    let dates = [
        ('Y', Unit::Months(12)),
        ('M', Unit::Months(1)),
        ('W', Unit::Days(7)),
        ('D', Unit::Days(1)),
    ];

    parts(&mut sum, date, &dates, false)?;
    let times = [
        ('H', Unit::Seconds(3600)),
        ('M', Unit::Seconds(60)),
        ('S', Unit::Seconds(1)),
    ];

    parts(&mut sum, time.unwrap_or_default(), &times, true)?;

    sum.finish(negated)
}

/// Numbers with their units, each unit at most once and in the order of `units`; the last may have
/// a fraction.
fn parts(
    sum: &mut Sum,
    mut text: &str,
    mut units: &[(char, Unit)],
    fractional: bool,
) -> Option<()> {
    while !text.is_empty() {
        let at = text.find(|c: char| c.is_ascii_alphabetic())?;
        let (digits, rest) = (&text[..at], &text[at + 1..]);
        let index = units
            .iter()
            .position(|(letter, _)| text[at..].starts_with(*letter))?;
        sum.add(
            number(digits, fractional && rest.is_empty())?,
            units[index].1,
        )?;

        // ISO 8601 allows each unit once, the largest first.
        (text, units) = (rest, &units[index + 1..]);
    }

    Some(())
}

/// Reads the output of PostgreSQL under the interval styles other than `iso_8601`.
pub(super) fn postgres(text: &str) -> Option<Duration> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    match words.as_slice() {
        [] => None,
        ["0"] | ["@", "0"] => Some(Duration::default()),
        // The style `postgres_verbose` writes a negative interval with `ago`.
        ["@", words @ .., "ago"] if !words.is_empty() => units(words)?.finish(true),
        ["@", words @ ..] if !words.is_empty() => units(words)?.finish(false),
        words if text.contains(|c: char| c.is_ascii_alphabetic()) => units(words)?.finish(false),
        words => sql_standard(words)?.finish(false),
    }
}

/// `1 year 2 mons -3 days +04:05:06.5`, and `1 year 4 hours 5.5 secs`.
fn units(words: &[&str]) -> Option<Sum> {
    let mut sum = Sum::default();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if word.contains(':') {
            let (negative, digits) = signed(word, false);
            time(&mut sum, negative, digits)?;
        } else {
            let unit = unit(words.next()?)?;
            sum.add(number(word, matches!(unit, Unit::Seconds(1)))?, unit)?;
        }
    }

    Some(sum)
}

fn unit(word: &str) -> Option<Unit> {
    Some(match word.strip_suffix('s').unwrap_or(word) {
        "year" => Unit::Months(12),
        "mon" => Unit::Months(1),
        "day" => Unit::Days(1),
        "hour" => Unit::Seconds(3600),
        "min" => Unit::Seconds(60),
        "sec" => Unit::Seconds(1),
        _ => return None,
    })
}

/// `+1-2 -3 +4:05:06.5`, where a part without a sign has the one before it, and days always have a
/// time.
fn sql_standard(words: &[&str]) -> Option<Sum> {
    let mut sum = Sum::default();
    let mut negative = false;
    for (index, word) in words.iter().enumerate() {
        let digits;
        (negative, digits) = signed(word, negative);
        let last = index + 1 == words.len();
        let sign = if negative { -1 } else { 1 };
        let mut add = |digits: &str, unit| {
            // `number` accepts a sign itself, and a second one is an error.
            let Number { whole, millionths } =
                number(digits, false).filter(|_| !digits.starts_with(['-', '+']))?;
            sum.add(
                Number {
                    whole: whole * sign,
                    millionths,
                },
                unit,
            )
        };

        if digits.contains(':') && last {
            time(&mut sum, negative, digits)?;
        } else if let Some((years, months)) = digits.split_once('-').filter(|_| index == 0) {
            add(years, Unit::Months(12))?;
            add(months, Unit::Months(1))?;
        } else if !last {
            add(digits, Unit::Days(1))?;
        } else {
            return None;
        }
    }

    Some(sum)
}

/// Whether a number is negative, and its digits; `otherwise` applies to a number without a sign.
fn signed(text: &str, otherwise: bool) -> (bool, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (otherwise, text),
    }
}

/// `04:05:06.5`.
fn time(sum: &mut Sum, negative: bool, digits: &str) -> Option<()> {
    let sign = if negative { -1 } else { 1 };
    let parts: Vec<&str> = digits.split(':').collect();

    // PostgreSQL always writes three parts, and a sign only before the first.
    if parts.len() != 3
        || parts
            .iter()
            .any(|part| !part.starts_with(|c: char| c.is_ascii_digit()))
    {
        return None;
    }

    for (part, size) in parts.into_iter().zip([3600, 60, 1]) {
        let Number { whole, millionths } = number(part, size == 1)?;
        sum.add(
            Number {
                whole: whole * sign,
                millionths: millionths * sign,
            },
            Unit::Seconds(size),
        )?;
    }

    Some(())
}
