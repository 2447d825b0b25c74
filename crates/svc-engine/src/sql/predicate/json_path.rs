//! Clients' SQL/JSON paths: rejects paths whose cost grows with a power of the document's size.
//!
//! A filter that starts at the root again scans the whole document for each item, each `**` visits
//! everything below each item of the previous one, and each `keyvalue()` turns one item into three:
//! 170 bytes can cost PostgreSQL gigabytes. A list of subscripts can name an item twice, and
//! `[0,0]` does so even for a number, which is treated as a list of one: `$[0,0]` followed by
//! nineteen more takes a second. With at most one of each, a path only descends. The remaining case
//! is a comparison of two lists, which compares all pairs of their items. Nested filters only see
//! parts of the document, so no path is worse than quadratic.
//!
//! Comments, and escapes outside quotes, are rejected: they could make a quote or a keyword mean
//! something different here than in PostgreSQL (`jsonpath_scan.l`).

use svc_postgres::DbError;

/// Checks that a path names the root once, uses `**` and `keyvalue()` at most once each, and lists
/// subscripts at most once.
///
/// # Errors
/// Returns [`DbError::BadPattern`] with a suggested alternative.
pub(super) fn check(path: &str) -> Result<(), DbError> {
    let counts = Counts::of(path)?;
    let bounds = [
        (
            counts.roots,
            "can name the root `$` once; begin with `@` inside a filter",
        ),
        (
            counts.descents,
            "can have one `**`; name the keys of the other levels",
        ),
        (counts.key_values, "can have one `keyvalue()`"),
        (
            counts.subscripts,
            "can list subscripts once; use `[*]`, a range, or a filter",
        ),
    ];

    match bounds.into_iter().find(|(count, _)| *count > 1) {
        Some((_, why)) => Err(refusal(why)),
        None => Ok(()),
    }
}

/// The numbers of the parts of a path that multiply its cost.
#[derive(Default)]
struct Counts {
    roots: usize,
    descents: usize,
    key_values: usize,
    /// The lists of subscripts.
    subscripts: usize,
}

impl Counts {
    /// Counts the parts of a path.
    ///
    /// # Errors
    /// If the path has a comment, an escape outside quotes, or a variable.
    fn of(path: &str) -> Result<Self, DbError> {
        let mut counts = Self::default();

        // Whether each open bracket has had a comma; parentheses may contain commas between
        // arguments.
        let mut open: Vec<Option<bool>> = Vec::new();
        let mut rest = path.as_bytes();
        let mut in_text = false;

        while let [byte, after @ ..] = rest {
            rest = after;

            match byte {
                // An escaped quote does not end the text.
                b'\\' if in_text => rest = after.get(1..).unwrap_or_default(),
                b'"' => in_text = !in_text,
                _ if in_text => {}
                b'\\' => return Err(refusal("can have a `\\` in quotes only")),
                b'/' if after.starts_with(b"*") => return Err(refusal("cannot have a comment")),
                b'$' if names_variable(after) => {
                    return Err(refusal("cannot have a variable; write its value"));
                }
                b'$' => counts.roots += 1,
                b'*' if after.starts_with(b"*") => {
                    counts.descents += 1;
                    rest = &after[1..];
                }
                b'[' => open.push(Some(false)),
                b'(' => open.push(None),
                b']' | b')' => drop(open.pop()),
                b',' => {
                    if let Some(Some(has_comma @ false)) = open.last_mut() {
                        *has_comma = true;
                        counts.subscripts += 1;
                    }
                }
                // A longer word that contains `keyvalue` counts as well, which only makes the check
                // stricter.
                b'k' | b'K' if continues_keyvalue(after) => counts.key_values += 1,
                _ => {}
            }
        }

        Ok(counts)
    }
}

fn refusal(why: &str) -> DbError {
    DbError::BadPattern(format!("the path {why}"))
}

/// Whether the text after a `k` completes the word `keyvalue`.
fn continues_keyvalue(after: &[u8]) -> bool {
    after
        .get(..7)
        .is_some_and(|word| word.eq_ignore_ascii_case(b"eyvalue"))
}

/// Whether the `$` before this text starts a variable. No variables are defined, which only
/// PostgreSQL's newest versions report.
fn names_variable(after: &[u8]) -> bool {
    after
        .first()
        .is_some_and(|next| next.is_ascii_alphanumeric() || matches!(next, b'_' | b'"'))
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn paths_that_descend_once_are_accepted() {
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
    fn paths_that_multiply_items_are_refused() {
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
