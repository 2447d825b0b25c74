//! Validation of new passwords.

use super::NativeAuthProvider;
use crate::accounts::password::{Password, check_context_words};
use crate::accounts::refused::Refused;

impl NativeAuthProvider {
    /// Validates and normalizes a new password; the names of its user are checked separately.
    pub(super) fn read_new_password(&self, text: &str) -> Result<Password, Refused> {
        let password = self.0.rules.read(text).map_err(Refused::WeakPassword)?;
        check_context_words(&password, &self.0.context_words).map_err(Refused::WeakPassword)?;
        Ok(password)
    }
}
