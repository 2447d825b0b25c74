//! The rules for new passwords.

use std::time::Duration;

use super::Password;
use super::common::is_common;
use super::forms::Forms;
use super::text::NotPassword;

/// The name of the rule that passwords of a list of breached ones violate.
const BREACHED: &str = "breached";

/// The rules for new passwords, according to NIST SP 800-63B-4 and OWASP ASVS 5.0. In addition to
/// them, a password must not be one of the most common ones, a repetition of the same few
/// characters, the name or the address of its user, or a
/// [word of the service](super::super::NativeAuthFactory::context_words).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PasswordRules {
    /// The minimum number of characters: 8 by default. NIST requires 15 where the password is the
    /// only factor, and ASVS recommends it.
    pub min_length: usize,
    /// Whether a lowercase letter, an uppercase letter, a digit and a character of no such class
    /// are required; not by default, as both standards forbid it. A letter of a script without case
    /// counts as both lowercase and uppercase.
    pub four_classes: bool,
    /// The maximum time for a look-up in the list of
    /// [breached passwords](super::super::NativeAuthFactory::breached_passwords): 2 seconds by
    /// default.
    pub breached_timeout: Duration,
    /// Whether a password is accepted if the look-up fails or takes too long. By default, the
    /// request gets 503.
    pub allow_unchecked: bool,
}

impl Default for PasswordRules {
    fn default() -> Self {
        Self {
            min_length: 8,
            // NIST SP 800-63B-4 forbids such rules: they lead to passwords such as `Password1!`.
            four_classes: false,
            breached_timeout: Duration::from_secs(2),
            allow_unchecked: false,
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
            NotPassword::TooLong => Weakness::new(
                "max_length",
                "the password must have at most 1024 bytes; choose a shorter one",
            ),
            NotPassword::ControlCharacter => Weakness::new(
                "characters",
                "the password must not contain control characters, such as tabs; remove them",
            ),
        })?;

        // Each code point counts as one character (NIST SP 800-63B-4, section 3.1.1.2).
        if password.as_str().chars().count() < self.min_length {
            let message = format!(
                "the password must have at least {} characters; several words are long and easy to remember",
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

    /// The weakness of a password that is in the list of breached ones.
    pub(in crate::accounts) fn breached() -> Self {
        Self::new(
            BREACHED,
            "the password is in a list of stolen passwords; choose one that you use nowhere else",
        )
    }

    /// Whether it was found by a look-up, which costs more than the other rules.
    pub(in crate::accounts) fn is_looked_up(&self) -> bool {
        self.rule == BREACHED
    }
}

/// Checks that a password is neither a name nor the address of its user.
pub(in crate::accounts) fn check_names(
    password: &Password,
    names: &[&str],
) -> Result<(), Weakness> {
    let forms = Forms::of(password.as_str());
    let is_own = names
        .iter()
        .flat_map(|name| [Some(*name), name.rsplit_once('@').map(|(local, _)| local)])
        .flatten()
        .any(|name| forms.is_word(name));

    if is_own {
        return Err(Weakness::new(
            "own_name",
            "the password must be more than your name or your address with digits and signs; add other words",
        ));
    }

    Ok(())
}

/// Checks that a password is not a word of the service, such as its name.
pub(in crate::accounts) fn check_context_words(
    password: &Password,
    words: &[String],
) -> Result<(), Weakness> {
    let forms = Forms::of(password.as_str());
    if words.iter().any(|word| forms.is_word(word)) {
        return Err(Weakness::new(
            "context_word",
            "the password must be more than a name of this service with digits and signs; add other words",
        ));
    }

    Ok(())
}

fn check_common(password: &Password) -> Result<(), Weakness> {
    let forms = Forms::of(password.as_str());
    if forms.any(is_common) {
        return Err(Weakness::new(
            "common",
            "the password must be more than one of the most common ones with digits and signs; choose several words, \
             or let a password manager choose",
        ));
    }

    if forms.repeats_few_characters() {
        return Err(Weakness::new(
            "repeated",
            "the password must not repeat the same few characters; choose several words, or let a password manager \
             choose",
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
    use super::*;

    fn rule_of(text: &str, names: &[&str]) -> Option<&'static str> {
        let password = PasswordRules::default().read(text);
        let checked = password.and_then(|password| check_names(&password, names));
        checked.err().map(|weakness| weakness.rule)
    }

    #[test]
    fn common_passwords_are_refused_in_any_case_with_digits_and_signs() {
        for common in [
            "12345678",
            "password",
            "PASSWORD1",
            "Password1!",
            "Qwerty123!",
            "P@ssw0rd",
            "*qwertyuiop*",
            "p-a-s-s-w-o-r-d 99",
            "Summer2024!",
            "jennifer1980",
            "passwordpassword9",
            "Monkey-Monkey-Monkey",
        ] {
            assert_eq!(rule_of(common, &[]), Some("common"), "{common}");
        }

        for other in [
            "correct horse",
            "correct horse battery staple lamp",
            "my password is long",
            "passwordpassport",
        ] {
            assert_eq!(rule_of(other, &[]), None, "{other}");
        }
    }

    #[test]
    fn repetitions_of_few_characters_are_refused() {
        for repeated in [
            "zzzzzzzzzzzzzzz",
            "!!!!!!!!",
            "-+-+-+-+",
            "xyzxyzxyz!",
            "éàéàéàéà",
        ] {
            assert_eq!(rule_of(repeated, &[]), Some("repeated"), "{repeated}");
        }

        for other in ["lamplamplamp", "zzzzzzzzzzzzzzzx"] {
            assert_eq!(rule_of(other, &[]), None, "{other}");
        }
    }

    #[test]
    fn own_names_are_refused_with_digits_and_signs() {
        let names = ["ada.lovelace", "countess@example.com", "20241127", "nana"];
        for own in [
            "ada.lovelace",
            "Ada.Lovelace1815!",
            "Ada Lovelace 1815",
            "adalovelace-adalovelace",
            "countess@example.com",
            "Countess99",
            "20241127",
            "20241127-20241127",
            "nana-2024",
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
}
