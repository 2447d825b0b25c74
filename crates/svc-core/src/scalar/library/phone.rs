//! Telephone numbers.

use super::ScalarError;
use super::form::text_newtype;

text_newtype! {
    /// An international telephone number ([ITU-T E.164](https://www.itu.int/rec/T-REC-E.164)).
    ///
    /// `+`, then 7 to 15 digits of which the first is not 0. Canonical has nothing else; spaces,
    /// hyphens and dots between digits are read. Parentheses are not: the `(0)` in some writings is
    /// not part of the number. Whether the number is in use, only a call tells.
    ///
    /// ```
    /// use svc::scalar::PhoneNumber;
    ///
    /// assert_eq!("+41 44 668-18-00".parse::<PhoneNumber>()?.as_str(), "+41446681800");
    /// assert!("044 668 18 00".parse::<PhoneNumber>().is_err());
    /// # Ok::<(), svc::scalar::ScalarError>(())
    /// ```
    PhoneNumber,
    canonical = canonical,
    description = "An international telephone number: `+` and 7 to 15 digits.",
    specified_by = "https://www.itu.int/rec/T-REC-E.164"
}

fn canonical(text: &str) -> Result<String, ScalarError> {
    let refuse = || {
        ScalarError::new(
            "expected `+` and 7 to 15 digits, the first not 0 (E.164)",
            text,
        )
    };

    let rest = text.strip_prefix('+').ok_or_else(refuse)?;
    let digits: String = rest
        .chars()
        .filter(|c| !matches!(c, ' ' | '-' | '.'))
        .collect();
    let known =
        digits.bytes().all(|byte| byte.is_ascii_digit()) && (7..=15).contains(&digits.len());
    // Separators are only allowed between digits, and E.164 has no country code that starts with 0.
    let edges = rest.starts_with(|c| matches!(c, '1'..='9'))
        && rest.ends_with(|c: char| c.is_ascii_digit());

    if known && edges {
        Ok(format!("+{digits}"))
    } else {
        Err(refuse())
    }
}
