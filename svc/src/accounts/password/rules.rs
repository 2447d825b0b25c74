//! The rules for new passwords.

use super::Password;
use super::text::NotPassword;

/// The rules for new passwords.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PasswordRules {
    /// The minimum number of characters.
    pub min_length: usize,
    /// Whether a lowercase letter, an uppercase letter, a digit and a character of no such class
    /// are required. A letter of a script without case counts as both lowercase and uppercase.
    pub four_classes: bool,
}

impl Default for PasswordRules {
    fn default() -> Self {
        Self {
            min_length: 8,
            four_classes: true,
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
        let broken = |rule, message: &str| Weakness {
            rule,
            message: message.to_owned(),
        };

        let password = Password::read(text).map_err(|error| match error {
            NotPassword::TooLong => {
                broken("max_length", "the password must have at most 1024 bytes")
            }
            NotPassword::ControlCharacter => broken(
                "characters",
                "the password must not contain control characters",
            ),
        })?;

        // Each code point counts as one character (NIST SP 800-63B, section 5.1.1.2).
        if password.as_str().chars().count() < self.min_length {
            let message = format!(
                "the password must have at least {} characters",
                self.min_length
            );
            return Err(Weakness {
                rule: "min_length",
                message,
            });
        }

        let missing =
            |is_of: fn(char) -> bool| self.four_classes && !password.as_str().chars().any(is_of);
        if missing(|c| c.is_lowercase() || is_uncased(c)) {
            return Err(broken("lowercase", "the password must have a small letter"));
        }

        if missing(|c| c.is_uppercase() || is_uncased(c)) {
            return Err(broken(
                "uppercase",
                "the password must have a capital letter",
            ));
        }

        if missing(char::is_numeric) {
            return Err(broken("digit", "the password must have a digit"));
        }

        if missing(|c| !c.is_alphanumeric()) {
            return Err(broken(
                "symbol",
                "the password must have a character that is neither a letter nor a digit",
            ));
        }

        Ok(password)
    }
}

/// Whether the character is a letter of a script without case.
fn is_uncased(c: char) -> bool {
    c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase()
}
