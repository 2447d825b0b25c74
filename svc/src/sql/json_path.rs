//! SQL/JSON paths of clients: those whose cost grows with a power of the document are refused.
//!
//! A filter that begins at the root again looks at the whole document for each item that it is asked about, each `**`
//! at everything below each item of the one before, and each `keyvalue()` makes three items of one: 170 bytes can take
//! PostgreSQL gigabytes. A list of subscripts can name an item twice, and `[0,0]` does so even for a number, which is a
//! list of one: `$[0,0]` with nineteen more of them takes a second. With one of each a path goes down only. What remains
//! is a comparison of two lists, which looks at all pairs of their items; filters inside filters see parts of the
//! document only, so that no path grows beyond the square.
//!
//! Comments, and escapes outside of quotes, are refused: they would let a quote or a keyword look like something else
//! here than in PostgreSQL (`jsonpath_scan.l`).

use crate::postgres::DbError;

/// Checks that a path names the root once, looks below all items at most once, and lists subscripts at most once.
///
/// # Errors
/// [`DbError::BadPattern`] with what to write instead.
pub(super) fn check(path: &str) -> Result<(), DbError> {
    let refuse = |why: &str| Err(DbError::BadPattern(format!("the path {why}")));
    let (mut roots, mut descents, mut key_values, mut subscripts) = (0, 0, 0, 0);
    // Whether each bracket that is open has had a comma; parentheses may have one for arguments.
    let mut open: Vec<Option<bool>> = Vec::new();
    let mut rest = path.as_bytes();
    let mut in_text = false;
    while let [byte, after @ ..] = rest {
        rest = after;
        match byte {
            b'\\' if in_text => rest = after.get(1..).unwrap_or_default(),
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'\\' => return refuse("can have a `\\` in quotes only"),
            b'/' if after.starts_with(b"*") => return refuse("cannot have a comment"),
            b'$' if names_variable(after) => return refuse("cannot have a variable; write its value"),
            b'$' => roots += 1,
            b'*' if after.starts_with(b"*") => {
                descents += 1;
                rest = &after[1..];
            }
            b'[' => open.push(Some(false)),
            b'(' => open.push(None),
            b']' | b')' => drop(open.pop()),
            b',' => {
                if let Some(Some(has_comma @ false)) = open.last_mut() {
                    (*has_comma, subscripts) = (true, subscripts + 1);
                }
            }
            b'k' | b'K' if after.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"eyvalue")) => key_values += 1,
            _ => {}
        }
    }
    for (count, why) in [
        (roots, "can name the root `$` once; begin with `@` inside a filter"),
        (descents, "can have one `**`; name the keys of the other levels"),
        (key_values, "can have one `keyvalue()`"),
        (subscripts, "can list subscripts once; use `[*]`, a range, or a filter"),
    ] {
        if count > 1 {
            return refuse(why);
        }
    }
    Ok(())
}

/// Whether a `$` before this is a variable. Of those there are none, which PostgreSQL says in its newest versions only.
fn names_variable(after: &[u8]) -> bool {
    after.first().is_some_and(|next| next.is_ascii_alphanumeric() || matches!(next, b'_' | b'"'))
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
            "$.a.keyvalue() ? (@.key == \"keyvalue\")",
            "$.a[0,2 to last].b[1].c[*] ? (@.decimal(5,2) > 1 || @.decimal(4,1) < 0 || @.d == \"[,],[,]\")",
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
            ("$.keyvalue().KeyValue().value", "keyvalue"),
            ("$ /* \" */ ? (@ == $)", "comment"),
            ("$.a\\\" ? (@ == $)", "in quotes only"),
            ("$.key\\u0076alue()", "in quotes only"),
            ("$[0,0][0,0]", "subscripts"),
            ("$.a[0, 1].b[*] ? (@[0 to 1, last] == 1)", "subscripts"),
            ("$[@.a[0,0],1]", "subscripts"),
            ("$1", "variable"),
            ("$.a ? (@ == $\"x\")", "variable"),
        ] {
            let error = check(path).unwrap_err().to_string();
            assert!(error.contains(word), "{path}: {error}");
        }
    }
}
