//! Notes on the environment in the log at the start: variables that nothing reads, and those that the program overrides.

use super::{AppOptions, SvcConfig};
use crate::settings::{unknown, variable};

impl AppOptions {
    /// Says which variables have no effect, where the environment is read at all.
    pub(super) fn note_environment(&self) {
        if !self.reads_environment {
            return;
        }
        for unknown in unknown(&SvcConfig::variables(), std::env::vars_os().map(|(name, _)| name)) {
            tracing::warn!("{unknown}");
        }
        // They were read before.
        let Ok(given) = SvcConfig::from_env() else { return };
        self.config.compare(&given, &mut |names, differs| {
            let set = names.iter().find(|name| variable(name).is_some_and(|value| !value.trim().is_empty()));
            if let (true, Some(name)) = (differs, set) {
                tracing::info!("{name} is set and has no effect: the program gives another value");
            }
        });
    }
}
