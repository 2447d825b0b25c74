//! Numbers as header values.

use axum::http::HeaderValue;

/// The number of precomputed texts: they cover most numbers in responses.
const KNOWN: usize = 1_000;
const DIGITS: usize = 3;
/// The texts of the precomputed numbers, with leading zeros, in one array.
static TEXTS: [u8; KNOWN * DIGITS] = texts();

const fn texts() -> [u8; KNOWN * DIGITS] {
    let mut texts = [b'0'; KNOWN * DIGITS];
    let mut at = 0;
    while at < texts.len() {
        let (mut rest, mut digit) = (at / DIGITS, DIGITS);
        while digit > 0 {
            digit -= 1;
            texts[at + digit] = b"0123456789"[rest % 10];
            rest /= 10;
        }
        at += DIGITS;
    }

    texts
}

/// Returns a number as a header value. Precomputed numbers need no allocation.
pub(in crate::rate_limit) fn number_value(number: u64) -> HeaderValue {
    known(number).unwrap_or_else(|| {
        // The conversion of the crate `http` allocates twice.
        HeaderValue::from_str(itoa::Buffer::new().format(number)).unwrap_or_else(|_| number.into())
    })
}

fn known(number: u64) -> Option<HeaderValue> {
    let index = usize::try_from(number)
        .ok()
        .filter(|index| *index < KNOWN)?;
    let zeros = usize::from(index < 100) + usize::from(index < 10);
    let digits = TEXTS.get(index * DIGITS + zeros..(index + 1) * DIGITS)?;
    std::str::from_utf8(digits)
        .ok()
        .map(HeaderValue::from_static)
}

#[cfg(test)]
mod tests {
    use super::number_value;

    #[test]
    fn a_number_is_its_digits() {
        for number in (0..2_000).chain([u64::MAX, 99_999]) {
            assert_eq!(number_value(number), number.to_string(), "{number}");
        }
    }
}
