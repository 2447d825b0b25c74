//! The variables that parts of the program use. A part records them when it is set up, however it
//! received its settings: a variable is used if the part has the value of that variable.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Group, Variables, variable};

static STATE: Mutex<State> = Mutex::new(State {
    used: BTreeSet::new(),
    told: BTreeSet::new(),
});

/// Static, as the environment is that of the process too.
#[derive(Debug)]
struct State {
    used: BTreeSet<&'static str>,
    /// The variables already logged as having no effect.
    told: BTreeSet<String>,
}

/// Records that a part with these settings is set up. Returns the variables that are set to other
/// values.
pub fn use_group(group: &impl Group) -> Vec<&'static str> {
    let mut others = Vec::new();
    group.visit_set(&Variables(&variable), &mut |name, is_same| match is_same {
        true => use_variable(name),
        false => others.push(name),
    });
    others
}

/// Records that a part with this value is set up.
#[cfg(any(feature = "auth", feature = "sessions"))]
pub fn use_value(name: &'static str, value: &str) {
    // Variables are trimmed when they are read, so the value is trimmed here too.
    if Variables(&variable)
        .text(name)
        .is_some_and(|given| given == value.trim())
    {
        use_variable(name);
    }
}

/// Records that a part uses a variable.
pub fn use_variable(name: &'static str) {
    state().used.insert(name);
}

/// Whether a part uses a variable.
pub fn is_used(name: &str) -> bool {
    state().used.contains(name)
}

/// Whether a variable is set and not empty.
pub fn is_set(name: &str) -> bool {
    Variables(&variable).text(name).is_some()
}

/// Returns whether the log has not yet reported that a variable has no effect, and records that it
/// now has.
pub fn tell_once(name: &str) -> bool {
    state().told.insert(name.to_owned())
}

/// Logs that nothing uses a setting, and the reason.
pub fn tell_unused(name: &str, why: &str) {
    if tell_once(name) {
        tracing::warn!("{name} is set but unused: {why}");
    }
}

/// Logs that the program overrides a setting.
pub fn tell_overridden(name: &str) {
    if tell_once(name) {
        tracing::info!("{name} is set but has no effect: the program overrides it");
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}
