//! Logs notes on the environment at the start: variables that nothing reads, variables that the
//! program overrides, and variables of parts that the program does not have.

use super::unused::{is_of_later_part, is_of_the_server, note_unused_parts_later, why_unused};
use crate::app::{AppOptions, SvcConfig};
use svc_core::settings::{
    Group as _, Variables, is_used, tell_once, tell_overridden, tell_unused, unknown, use_variable,
    variable,
};

impl AppOptions {
    /// Logs the variables that are no settings.
    pub(in crate::app) fn note_unknown_settings(&self) {
        if self.is_quiet {
            return;
        }

        for unknown in unknown(
            &SvcConfig::names(),
            std::env::vars_os().map(|(name, _)| name),
        ) {
            if tell_once(&unknown) {
                tracing::warn!("{unknown}");
            }
        }
    }

    /// Logs the settings without effect, however the program takes its settings. Settings of parts
    /// that are set up around the application are checked when it is served. `is_timed` means that
    /// something decides about access within a time limit.
    pub(in crate::app) fn note_unused_settings(&self, is_timed: bool) {
        if self.is_quiet {
            return;
        }

        self.config
            .visit_set(&Variables(&variable), &mut |name, is_same| {
                // Other programs use `DATABASE_URL` as well.
                let is_ours = name.starts_with("SVC_") || self.reads_environment;
                if !is_ours || is_of_later_part(name) || is_of_the_server(name) || is_used(name) {
                    return;
                }
                match why_unused(name, self, is_timed) {
                    Some(why) => tell_unused(name, why),
                    None if is_same => use_variable(name),
                    None => tell_overridden(name),
                }
            });

        note_unused_parts_later();
    }
}
