//! Environment variables.

/// The source of variables that settings are read from.
pub struct Variables<'a>(pub &'a dyn Fn(&str) -> Option<String>);

impl Variables<'_> {
    /// Returns the value of a variable, unless it is empty.
    pub fn text(&self, name: &str) -> Option<String> {
        (self.0)(name)
            .map(|value| value.trim().to_owned())
            // Compose files set a variable to an empty text if the host does not define it.
            .filter(|value| !value.is_empty())
    }

    /// Returns the first variable that is set and not empty, with its name.
    pub fn first(&self, names: &[&'static str]) -> Option<(&'static str, String)> {
        names
            .iter()
            .find_map(|name| Some((*name, self.text(name)?)))
    }
}

/// Reads an environment variable.
pub fn variable(name: &str) -> Option<String> {
    // `check_text` reports values that are not UTF-8.
    std::env::var(name).ok()
}
