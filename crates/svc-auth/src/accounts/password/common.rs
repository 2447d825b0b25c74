//! The most common passwords.

use std::sync::LazyLock;

/// The most common passwords, sorted, in lower case and without signs: more than 3,000 of at least
/// eight characters, and shorter ones that are common with digits and signs around them. Their
/// sources and license are in `LICENSE-zxcvbn.txt`.
static COMMON: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| include_str!("common.txt").lines().collect());

/// Whether a text in lower case and without signs is a common password.
pub(super) fn is_common(text: &str) -> bool {
    COMMON.binary_search(&text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::COMMON;

    /// OWASP ASVS 5.0, requirement 6.2.4.
    #[test]
    fn three_thousand_common_passwords_have_the_minimum_length() {
        assert!(COMMON.iter().filter(|common| common.len() >= 8).count() >= 3_000);
    }

    #[test]
    fn the_list_is_in_the_form_in_which_passwords_are_compared() {
        assert!(COMMON.is_sorted_by(|one, next| one < next));
        for common in COMMON.iter() {
            assert_eq!(*common, common.to_lowercase());
            assert!(common.chars().all(char::is_alphanumeric), "{common}");
        }
    }
}
