//! Quoting of identifiers and strings in SQL.

/// Returns a name as a quoted SQL identifier. NULs are removed, because they end a text in the
/// protocol.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\0', "").replace('"', "\"\""))
}

/// Returns a text as an SQL string literal.
pub(crate) fn literal(text: &str) -> String {
    // Backslashes need no escape, because `standard_conforming_strings` is on by default.
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_quotes() {
        assert_eq!(quoted("shop"), r#""shop""#);
        assert_eq!(quoted("a\"; DROP"), r#""a""; DROP""#);
        assert_eq!(quoted("a\0b"), r#""ab""#);
    }
}
