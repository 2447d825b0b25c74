//! The rules for new passwords.

use super::Password;
use super::text::NotPassword;

/// The most common passwords of at least eight characters, in lower case: from the lists of
/// [zxcvbn](https://github.com/dropbox/zxcvbn), with some newer ones at the end. The license of
/// the lists is in `LICENSE-zxcvbn.txt`.
const COMMON: &str = include_str!("common.txt");

/// The rules for new passwords. In addition to them, a password must not be one of the most common
/// ones, nor the name or the address of its user (NIST SP 800-63B-4, section 3.1.1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PasswordRules {
    /// The minimum number of characters.
    pub min_length: usize,
    /// Whether a lowercase letter, an uppercase letter, a digit and a character of no such class
    /// are required; not by default. A letter of a script without case counts as both lowercase and
    /// uppercase.
    pub four_classes: bool,
}

impl Default for PasswordRules {
    fn default() -> Self {
        Self {
            min_length: 8,
            // NIST SP 800-63B-4 forbids such rules: they lead to passwords such as `Password1!`.
            four_classes: false,
        }
    }
}

/// A rule violated by a password: its machine-readable name, and a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::accounts) struct Weakness {
    pub(in crate::accounts) rule: &'static str,
    pub(in crate::accounts) message: String,
}

impl PasswordRules {
    /// Validates and normalizes a new password.
    pub(in crate::accounts) fn read(&self, text: &str) -> Result<Password, Weakness> {
        let password = Password::read(text).map_err(|error| match error {
            NotPassword::TooLong => {
                Weakness::new("max_length", "the password must have at most 1024 bytes")
            }
            NotPassword::ControlCharacter => Weakness::new(
                "characters",
                "the password must not contain control characters",
            ),
        })?;

        // Each code point counts as one character (NIST SP 800-63B-4, section 3.1.1.2).
        if password.as_str().chars().count() < self.min_length {
            let message = format!(
                "the password must have at least {} characters",
                self.min_length
            );
            return Err(Weakness::new("min_length", message));
        }

        if self.four_classes {
            check_classes(&password)?;
        }

        check_common(&password)?;

        Ok(password)
    }
}

impl Weakness {
    fn new(rule: &'static str, message: impl Into<String>) -> Self {
        Self {
            rule,
            message: message.into(),
        }
    }
}

/// Checks that a password is neither a name nor the address of its user, in any case and with any
/// digits and signs around it.
pub(in crate::accounts) fn check_names(
    password: &Password,
    names: &[&str],
) -> Result<(), Weakness> {
    let own = names
        .iter()
        .flat_map(|name| [Some(*name), name.rsplit_once('@').map(|(local, _)| local)])
        .flatten();

    let lower = password.as_str().to_lowercase();
    let inner = letters(&lower);

    for name in own {
        let name = name.to_lowercase();
        if lower == name || (!inner.is_empty() && inner == letters(&name)) {
            return Err(Weakness::new(
                "own_name",
                "the password must be more than your name or your address with digits and signs",
            ));
        }
    }

    Ok(())
}

/// The text without the digits and signs at its ends.
fn letters(text: &str) -> &str {
    text.trim_matches(|c: char| !c.is_alphabetic())
}

fn check_common(password: &Password) -> Result<(), Weakness> {
    let lower = password.as_str().to_lowercase();

    // Signs at the ends hardly make a password harder to guess.
    let plain = lower.trim_matches(|c: char| !c.is_alphanumeric());
    if COMMON.lines().any(|common| common == plain) {
        return Err(Weakness::new(
            "common",
            "the password must not be one of the most common ones",
        ));
    }

    Ok(())
}

fn check_classes(password: &Password) -> Result<(), Weakness> {
    let missing = |is_of: fn(char) -> bool| !password.as_str().chars().any(is_of);
    if missing(|c| c.is_lowercase() || is_uncased(c)) {
        return Err(Weakness::new(
            "lowercase",
            "the password must have a small letter",
        ));
    }

    if missing(|c| c.is_uppercase() || is_uncased(c)) {
        return Err(Weakness::new(
            "uppercase",
            "the password must have a capital letter",
        ));
    }

    if missing(char::is_numeric) {
        return Err(Weakness::new("digit", "the password must have a digit"));
    }

    if missing(|c| !c.is_alphanumeric()) {
        return Err(Weakness::new(
            "symbol",
            "the password must have a character that is neither a letter nor a digit",
        ));
    }

    Ok(())
}

/// Whether the character is a letter of a script without case.
fn is_uncased(c: char) -> bool {
    c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn rule_of(text: &str, names: &[&str]) -> Option<&'static str> {
        let password = PasswordRules::default().read(text);
        let checked = password.and_then(|password| check_names(&password, names));
        checked.err().map(|weakness| weakness.rule)
    }

    #[test]
    fn common_passwords_are_refused_in_any_case_and_between_signs() {
        for common in [
            "12345678",
            "password",
            "PASSWORD1",
            "Password1!",
            "*qwertyuiop*",
        ] {
            assert_eq!(rule_of(common, &[]), Some("common"), "{common}");
        }

        for other in ["correct horse", "my password is long", "passwordpassword9"] {
            assert_eq!(rule_of(other, &[]), None, "{other}");
        }
    }

    #[test]
    fn own_names_are_refused_with_digits_and_signs_around_them() {
        let names = ["ada.lovelace", "countess@example.com", "20241127"];
        for own in [
            "ada.lovelace",
            "Ada.Lovelace1815!",
            "countess@example.com",
            "Countess99",
            "20241127",
        ] {
            assert_eq!(rule_of(own, &names), Some("own_name"), "{own}");
        }

        for other in [
            "ada.lovelace loves sums",
            "my countess",
            "20241127-20241128",
        ] {
            assert_eq!(rule_of(other, &names), None, "{other}");
        }
    }

    #[test]
    fn the_list_is_in_the_form_in_which_passwords_are_compared() {
        let mut seen = HashSet::new();
        for common in COMMON.lines() {
            assert!(common.chars().count() >= 8, "{common} is too short anyway");
            assert_eq!(common, common.to_lowercase());
            assert!(
                !common.starts_with(|c: char| !c.is_alphanumeric())
                    && !common.ends_with(|c: char| !c.is_alphanumeric()),
                "{common} has a sign at an end"
            );
            assert!(seen.insert(common), "{common} is there twice");
        }
    }
}
