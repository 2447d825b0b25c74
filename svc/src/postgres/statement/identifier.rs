//! SQL identifiers.

/// Quotes an identifier.
pub(crate) fn quote(identifier: &str) -> String {
    format!("\"{}\"", identifier.replace('"', "\"\""))
}

/// Quotes each `schema.name` part by part.
pub(in crate::postgres) fn quoted(names: &[String]) -> Vec<String> {
    names.iter().map(|name| quote_path(name)).collect()
}

/// Quotes `schema.name` part by part.
pub(in crate::postgres) fn quote_path(path: &str) -> String {
    path.split('.').map(quote).collect::<Vec<_>>().join(".")
}
