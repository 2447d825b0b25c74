//! JSON numbers with all their digits.

use std::borrow::Cow;
use std::fmt;

use serde_json::Number;

/// The maximum shift of the decimal point by an exponent; digits are not written out beyond it.
const MAX_ZEROS: i64 = 400;

/// A JSON number with all its digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactNumber(Digits);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Digits {
    Int(i64),
    /// Any other JSON number, as text.
    Text(Box<str>),
}

impl From<i64> for ExactNumber {
    fn from(value: i64) -> Self {
        Self(Digits::Int(value))
    }
}

impl ExactNumber {
    /// Parses a text, which must be a JSON number.
    #[doc(hidden)]
    pub fn of(text: &str) -> Self {
        match text.parse() {
            // `-0` would lose its sign as an integer.
            Ok(value) if text != "-0" => Self(Digits::Int(value)),
            _ => Self(Digits::Text(text.into())),
        }
    }

    /// Whether it has neither a fraction nor an exponent.
    #[doc(hidden)]
    pub fn is_written_as_integer(&self) -> bool {
        match &self.0 {
            Digits::Int(_) => true,
            Digits::Text(text) => !text.contains(['.', 'e', 'E']),
        }
    }

    /// The integer value, including integers written as `3.0` or `3e2`.
    #[doc(hidden)]
    pub fn as_integer(&self) -> Option<i128> {
        match &self.0 {
            Digits::Int(value) => Some((*value).into()),
            Digits::Text(text) => integer(text),
        }
    }

    /// The nearest double, if there is one.
    #[doc(hidden)]
    pub fn as_f64(&self) -> Option<f64> {
        match &self.0 {
            #[expect(
                clippy::cast_precision_loss,
                reason = "the nearest double is asked for"
            )]
            Digits::Int(value) => Some(*value as f64),
            Digits::Text(text) => text.parse().ok().filter(|value: &f64| value.is_finite()),
        }
    }

    /// The digits without an exponent; `None` if that would need hundreds of zeros.
    #[doc(hidden)]
    pub fn plain(&self) -> Option<Cow<'_, str>> {
        match &self.0 {
            Digits::Int(value) => Some(value.to_string().into()),
            Digits::Text(text) => plain_decimal(text),
        }
    }

    /// Whether the exponent is too large for the digits to be written out.
    pub(super) fn is_huge(&self) -> bool {
        match &self.0 {
            Digits::Int(_) => false,
            Digits::Text(text) => text.contains(['e', 'E']) && plain_decimal(text).is_none(),
        }
    }

    /// Converts to `serde_json`: a double unless it is a 64-bit integer.
    ///
    /// # Errors
    /// If the number is too large for a double.
    #[doc(hidden)]
    pub fn nearest(&self) -> Result<Number, serde_json::Error> {
        match &self.0 {
            Digits::Int(value) => Ok((*value).into()),
            Digits::Text(text) => text.parse(),
        }
    }

    /// Whether `serde_json` prints it exactly as it is written here.
    pub(super) fn is_held(&self) -> bool {
        match &self.0 {
            Digits::Int(_) => true,
            // The text decides, since `1.0` and `1.00` are the same double.
            Digits::Text(text) => self
                .nearest()
                .is_ok_and(|number| number.to_string() == **text),
        }
    }

    /// Converts to `serde_json` if that preserves the value: it does for `2.50`, but not for
    /// `0.1234567890123456789`.
    pub(super) fn held(&self) -> Option<Number> {
        let number = self.nearest().ok()?;

        // Most numbers are printed as they are written, so their digits are seldom compared.
        let same =
            self.is_held() || significant(&number.to_string())? == significant(&self.to_string())?;
        same.then_some(number)
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Digits::Int(value) => {
                out.extend_from_slice(itoa::Buffer::new().format(*value).as_bytes());
            }
            Digits::Text(text) => out.extend_from_slice(text.as_bytes()),
        }
    }
}

impl fmt::Display for ExactNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Digits::Int(value) => value.fmt(f),
            Digits::Text(text) => f.write_str(text),
        }
    }
}

/// A number's sign, its digits without surrounding zeros, and the position of its point; `None` if
/// the exponent is huge.
fn significant(text: &str) -> Option<(bool, String, usize)> {
    let plain = plain_decimal(text)?;
    let (is_negative, plain) = plain
        .strip_prefix('-')
        .map_or((false, &*plain), |rest| (true, rest));
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    let (whole, fraction) = (
        whole.trim_start_matches('0'),
        fraction.trim_end_matches('0'),
    );

    Some((is_negative, format!("{whole}{fraction}"), whole.len()))
}

/// The integer value of a JSON number, if it is an integer.
fn integer(text: &str) -> Option<i128> {
    let plain = plain_decimal(text)?;
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    if fraction.bytes().all(|digit| digit == b'0') {
        whole.parse().ok()
    } else {
        None
    }
}

/// A JSON number without its exponent; `None` if that would need hundreds of zeros.
pub fn plain_decimal(text: &str) -> Option<Cow<'_, str>> {
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else {
        return Some(text.into());
    };

    let (sign, mantissa) = mantissa
        .strip_prefix('-')
        .map_or(("", mantissa), |rest| ("-", rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));

    // The limit on the exponent also bounds the memory: `1e999999999` would otherwise be a gigabyte
    // of zeros.
    let exponent: i64 = exponent
        .parse()
        .ok()
        .filter(|exponent: &i64| exponent.abs() <= MAX_ZEROS)?;
    let digits = format!("{whole}{fraction}");

    // The length of a text fits into an `i64`.
    let point = whole.len() as i64 + exponent;
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
    let (whole, fraction) = match usize::try_from(point) {
        Ok(point) if point >= digits.len() => {
            let missing = point - digits.len();
            (digits + &zeros(missing as i64), String::new())
        }
        Ok(point) => (digits[..point].to_owned(), digits[point..].to_owned()),
        Err(_) => (String::new(), zeros(-point) + &digits),
    };

    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let dot = if fraction.is_empty() { "" } else { "." };

    Some(format!("{sign}{whole}{dot}{fraction}").into())
}

#[cfg(test)]
mod tests {
    use super::{ExactNumber, plain_decimal};

    #[test]
    fn exponents_become_digits() {
        for (text, plain) in [
            ("1.50", "1.50"),
            ("1e3", "1000"),
            ("1.5E+2", "150"),
            ("-1.5e-2", "-0.015"),
            ("12.345e1", "123.45"),
            ("100e-2", "1.00"),
            ("0e5", "0"),
            ("0.001e3", "1"),
        ] {
            assert_eq!(plain_decimal(text).as_deref(), Some(plain), "{text}");
        }

        assert_eq!(plain_decimal("1e400").map(|plain| plain.len()), Some(401));
        for text in ["1e401", "1e-401", "1e99999999999999999999"] {
            assert_eq!(plain_decimal(text), None, "{text}");
        }
    }

    #[test]
    fn integers_are_exact_or_none() {
        for (text, integer) in [
            ("9223372036854775807", Some(i64::MAX.into())),
            ("9223372036854775807.0", Some(i64::MAX.into())),
            ("9223372036854775808", Some(1 << 63)),
            ("-0", Some(0)),
            ("3e2", Some(300)),
            ("1.0000000000000000001", None),
            ("1e400", None),
        ] {
            assert_eq!(ExactNumber::of(text).as_integer(), integer, "{text}");
        }
    }
}
