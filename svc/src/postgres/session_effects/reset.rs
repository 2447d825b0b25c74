//! The reset of sessions behind calls: whether it can be left out.

use std::sync::atomic::{AtomicBool, Ordering};

use super::SessionEffects;
use crate::postgres::driver::{DedicatedConnection, DriverError};

/// Whether calls are followed by a reset of their session.
#[derive(Debug)]
pub(in crate::postgres) struct SessionReset {
    /// Whether that depends on the functions of the database.
    depends: bool,
    left_out: AtomicBool,
}

impl SessionReset {
    /// Resets always, never, or (`None`) where functions may set something.
    pub(in crate::postgres) fn new(setting: Option<bool>) -> Self {
        // Until the functions are known, any of them may.
        Self { depends: setting.is_none(), left_out: AtomicBool::new(false) }
    }

    /// Whether no function sets anything that lasts.
    pub(in crate::postgres) fn can_be_left_out(&self) -> bool {
        self.left_out.load(Ordering::Relaxed)
    }

    /// Looks at the functions, where it depends on them.
    pub(in crate::postgres) async fn look(
        &self,
        connection: &mut DedicatedConnection,
    ) -> Result<Option<SessionEffects>, DriverError> {
        if self.depends { SessionEffects::read(connection).await.map(Some) } else { Ok(None) }
    }

    /// Goes by what was found; whether it was left out until now and is not any more.
    pub(in crate::postgres) fn adopt(&self, found: Option<SessionEffects>) -> bool {
        let Some(effects) = found else { return false };
        let was_left_out = self.left_out.swap(!effects.any(), Ordering::Relaxed);
        if was_left_out && effects.any() {
            tracing::info!(functions = %effects, "functions may set something for the session; it is reset behind calls");
        }
        was_left_out && effects.any()
    }
}
