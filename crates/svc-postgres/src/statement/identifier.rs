//! SQL identifiers and text literals.

/// Quotes an identifier.
pub fn quote(identifier: &str) -> String {
    format!("\"{}\"", identifier.replace('"', "\"\""))
}

/// Quotes a text as a literal, which means the same with either value of
/// `standard_conforming_strings`.
pub fn quote_literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    if quoted.contains('\\') {
        format!("E'{}'", quoted.replace('\\', "\\\\"))
    } else {
        format!("'{quoted}'")
    }
}

/// Quotes each `schema.name` part by part.
pub(crate) fn quoted(names: &[String]) -> Vec<String> {
    names.iter().map(|name| quote_path(name)).collect()
}

/// Quotes `schema.name` part by part.
pub(crate) fn quote_path(path: &str) -> String {
    path.split('.').map(quote).collect::<Vec<_>>().join(".")
}
