//! Names and texts in SQL.

/// A name as an SQL identifier. The protocol ends text at a NUL, so none may be in it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\0', "").replace('"', "\"\""))
}

/// A text as SQL.
pub(crate) fn literal(text: &str) -> String {
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
