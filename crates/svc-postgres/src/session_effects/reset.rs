//! Whether the session reset after calls can be omitted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::SessionEffects;
use crate::driver::{DedicatedConnection, DriverError};

/// Whether calls are followed by a reset of their session.
#[derive(Debug)]
pub(crate) struct SessionReset {
    /// Whether that depends on the functions of the database.
    depends: bool,
    left_out: AtomicBool,
    /// The fingerprint at the last check.
    known: Mutex<Option<String>>,
}

impl SessionReset {
    /// Resets always, never, or (`None`) if functions may alter the session.
    pub(crate) fn new(setting: Option<bool>) -> Self {
        // Until the functions have been read, any of them may have lasting effects.
        Self {
            depends: setting.is_none(),
            left_out: AtomicBool::new(false),
            known: Mutex::default(),
        }
    }

    /// Whether no function has lasting effects.
    pub(crate) fn can_be_left_out(&self) -> bool {
        self.left_out.load(Ordering::Relaxed)
    }

    /// Checks the functions, if the reset depends on them and their fingerprint has changed.
    /// Returns whether the reset was omitted until now and is required from now on.
    pub(crate) async fn follow(
        &self,
        connection: &mut DedicatedConnection,
        fingerprint: Option<String>,
    ) -> Result<bool, DriverError> {
        let Some(fingerprint) = fingerprint.filter(|_| self.depends) else {
            return Ok(false);
        };
        if self.known().as_ref() == Some(&fingerprint) {
            return Ok(false);
        }

        let effects = SessionEffects::read(connection).await?;

        // Only after the read, so that a failed one is repeated.
        *self.known() = Some(fingerprint);
        let was_left_out = self.left_out.swap(!effects.any(), Ordering::Relaxed);
        let begins = was_left_out && effects.any();
        if begins {
            tracing::info!(functions = %effects, "functions may change session state; resetting it after calls");
        }

        Ok(begins)
    }

    fn known(&self) -> MutexGuard<'_, Option<String>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
