//! Normalized passwords.

use unicode_normalization::UnicodeNormalization as _;

/// The maximum length of a password in bytes, as sent.
const MAX_LENGTH: usize = 1_024;

/// A normalized password: PRECIS's OpaqueString (RFC 8265, section 4.2). `Debug` shows nothing.
pub(in crate::accounts) struct Password(String);

/// Why a text is not a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::accounts) enum NotPassword {
    TooLong,
    ControlCharacter,
}

impl Password {
    /// Normalizes a text: other spaces become the ASCII space, and characters are composed (NFC).
    pub(in crate::accounts) fn read(text: &str) -> Result<Self, NotPassword> {
        // Checked first, as normalization takes time in proportion to the length.
        if text.len() > MAX_LENGTH {
            return Err(NotPassword::TooLong);
        }

        if text.chars().any(char::is_control) {
            return Err(NotPassword::ControlCharacter);
        }

        Ok(Self(
            text.chars()
                .map(|c| if is_space(c) { ' ' } else { c })
                .nfc()
                .collect(),
        ))
    }

    pub(in crate::accounts) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether the character is a space separator (Zs).
fn is_space(c: char) -> bool {
    matches!(
        c,
        ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password")
    }
}
