//! A group of settings, as declared by the table of settings.

use super::{ConfigError, Variables, check_text, variable};

/// A struct of the table of settings.
pub trait Group: Sized {
    /// Reads the variables that are set; other settings get their defaults.
    ///
    /// # Errors
    /// A value that cannot be used.
    fn of(variables: &Variables<'_>) -> Result<Self, ConfigError>;

    /// Returns the variables of all settings.
    fn names() -> Vec<&'static str>;

    /// Calls `visit` with each variable that is set, and whether the group contains the value of
    /// that variable.
    fn visit_set(&self, variables: &Variables<'_>, visit: &mut dyn FnMut(&'static str, bool));
}

/// Reads a group from the environment.
///
/// # Errors
/// A value that cannot be used, or that is not text.
pub fn from_environment<G: Group>() -> Result<G, ConfigError> {
    check_text(&G::names())?;
    G::of(&Variables(&variable))
}
