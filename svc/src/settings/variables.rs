//! Environment variables.

/// The source of variables that settings are read from.
pub(crate) struct Variables<'a>(pub(crate) &'a dyn Fn(&str) -> Option<String>);

impl Variables<'_> {
    /// Returns the value of a variable, unless it is empty.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        (self.0)(name)
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
    }

    /// Returns the first variable that is set and not empty, with its name.
    pub(crate) fn first(&self, names: &[&'static str]) -> Option<(&'static str, String)> {
        names
            .iter()
            .find_map(|name| Some((*name, self.text(name)?)))
    }
}

/// Reads an environment variable.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
