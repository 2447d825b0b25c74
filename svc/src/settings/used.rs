//! The variables that a part of the program uses. A part says so when it is set up, whichever way its settings came to it:
//! a variable is used where the part has the value that the variable gives.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Group, Variables, variable};

static STATE: Mutex<State> = Mutex::new(State { used: BTreeSet::new(), told: BTreeSet::new() });

/// The environment is that of the process, and so is this.
#[derive(Debug)]
struct State {
    used: BTreeSet<&'static str>,
    /// The variables of which the log has said that they have no effect.
    told: BTreeSet<String>,
}

/// Notes that a part with these settings is set up. Returns the variables that are set and give other values.
pub(crate) fn use_group(group: &impl Group) -> Vec<&'static str> {
    let mut others = Vec::new();
    group.visit_set(&Variables(&variable), &mut |name, is_same| match is_same {
        true => use_variable(name),
        false => others.push(name),
    });
    others
}

/// Notes that a part with this value is set up.
#[cfg(feature = "auth")]
pub(crate) fn use_value(name: &'static str, value: &str) {
    if Variables(&variable).text(name).is_some_and(|given| given == value.trim()) {
        use_variable(name);
    }
}

/// Notes that a part uses a variable.
pub(crate) fn use_variable(name: &'static str) {
    state().used.insert(name);
}

/// Whether a part uses a variable.
pub(crate) fn is_used(name: &str) -> bool {
    state().used.contains(name)
}

/// Whether a variable is set to something.
pub(crate) fn is_set(name: &str) -> bool {
    Variables(&variable).text(name).is_some()
}

/// Whether the log has yet to say that a variable has no effect; from now on it has said so.
pub(crate) fn tell_once(name: &str) -> bool {
    state().told.insert(name.to_owned())
}

/// Says that nothing uses a setting, and the reason.
pub(crate) fn tell_unused(name: &str, why: &str) {
    if tell_once(name) {
        tracing::warn!("{name} is set and nothing uses it: {why}");
    }
}

/// Says that the program has another value for a setting.
pub(crate) fn tell_overridden(name: &str) {
    if tell_once(name) {
        tracing::info!("{name} is set and has no effect: the program gives another value");
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}
