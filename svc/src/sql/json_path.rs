//! SQL/JSON paths of clients: those whose cost grows with a power of the document are refused.
//!
//! A filter that begins at the root again looks at the whole document for each item that it is asked about, and each
//! `**` at everything below each item of the one before: 170 bytes can take PostgreSQL gigabytes. With one root and one
//! `**` a path goes down only, and its cost is that of the document.

use crate::postgres::DbError;

/// Whether a path names the root once, and looks below all items at most once.
///
/// # Errors
/// [`DbError::BadPattern`] with what to write instead.
pub(super) fn check(path: &str) -> Result<(), DbError> {
    let refuse = |why: &str| Err(DbError::BadPattern(format!("the path {why}")));
    let (mut roots, mut descents) = (0, 0);
    let mut bytes = path.bytes().peekable();
    let mut in_text = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if in_text => drop(bytes.next()),
            b'"' => in_text = !in_text,
            _ if in_text => {}
            // With a name it is a variable, of which there are none; PostgreSQL says so.
            b'$' if !bytes.peek().is_some_and(|next| next.is_ascii_alphanumeric() || matches!(next, b'_' | b'"')) => {
                roots += 1;
            }
            b'*' if bytes.next_if_eq(&b'*').is_some() => descents += 1,
            _ => {}
        }
    }
    match (roots, descents) {
        (2.., _) => refuse("can name the root `$` once; begin with `@` inside a filter"),
        (_, 2..) => refuse("can have one `**`; name the keys of the other levels"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn what_goes_down_once_passes() {
        for path in [
            "$",
            "$.a.b[*] ? (@.c > 3 && @.d like_regex \"^a$\")",
            "strict $.** ? (@.price == 1 * 2)",
            "$.\"a$b**\\\"$**\".c ? (exists(@.d ? (@ == \"**\")))",
        ] {
            assert!(check(path).is_ok(), "{path}");
        }
    }

    #[test]
    fn what_multiplies_is_refused() {
        for (path, word) in [
            ("$[*] ? (exists($[*] ? (@ < 0)))", "root"),
            ("$.a ? (@ == $.b)", "root"),
            ("$.**.**", "`**`"),
            ("$.** ? (exists(@.**{2}))", "`**`"),
            ("$ ? (@ == \"\\\"\" && $ == 1)", "root"),
        ] {
            let error = check(path).unwrap_err().to_string();
            assert!(error.contains(word), "{path}: {error}");
        }
    }
}
