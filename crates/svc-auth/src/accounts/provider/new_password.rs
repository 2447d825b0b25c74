//! Validation of new passwords.

use super::NativeAuthProvider;
use crate::accounts::password::{Password, Weakness, check_context_words};
use crate::accounts::refused::Refused;

impl NativeAuthProvider {
    /// Validates and normalizes a new password; the names of its user and breached passwords are
    /// checked separately.
    pub(super) fn read_new_password(&self, text: &str) -> Result<Password, Refused> {
        let password = self.0.rules.read(text).map_err(Refused::WeakPassword)?;
        check_context_words(&password, &self.0.context_words).map_err(Refused::WeakPassword)?;
        Ok(password)
    }

    /// Looks a new password up in the list of breached ones, if the application has one.
    pub(super) async fn check_breached(&self, password: &Password) -> Result<(), Refused> {
        let Some(list) = &self.0.breached else {
            return Ok(());
        };

        let rules = self.0.rules;
        let found =
            tokio::time::timeout(rules.breached_timeout, list.look_up(password.as_str())).await;

        match found.unwrap_or_else(|_| Err("it took too long".into())) {
            Ok(false) => Ok(()),
            Ok(true) => Err(Refused::WeakPassword(Weakness::breached())),
            Err(error) if rules.allow_unchecked => {
                tracing::warn!(%error, "a new password was accepted without a look-up among breached ones");
                Ok(())
            }
            Err(error) => Err(Refused::unavailable(
                "a new password cannot be looked up among breached ones",
                &error.to_string(),
            )),
        }
    }
}
