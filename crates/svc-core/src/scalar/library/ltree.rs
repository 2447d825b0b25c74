//! Paths of labels.

use super::ScalarError;
use super::form::text_newtype;

/// The most characters of a label, and the most labels of a path, that PostgreSQL takes.
const LIMITS: (usize, usize) = (1000, 65_535);

text_newtype! {
    /// A path in a tree: PostgreSQL's `ltree`.
    ///
    /// Labels of letters, digits, `_` and `-` (the hyphen since PostgreSQL 16), joined by dots; the
    /// empty text is the empty path. The form is
    /// [PostgreSQL's](https://www.postgresql.org/docs/current/ltree.html), and case counts.
    ///
    /// ```
    /// use svc::scalar::LTree;
    ///
    /// let path: LTree = "Top.Science.Astronomy".parse()?;
    /// assert_eq!(path.labels().last(), Some("Astronomy"));
    /// assert!("Top..Science".parse::<LTree>().is_err());
    /// # Ok::<(), svc::scalar::ScalarError>(())
    /// ```
    LTree,
    canonical = canonical,
    description = "A path of labels joined by dots.",
    specified_by = "https://www.postgresql.org/docs/current/ltree.html",
    sql_type = "ltree"
}

impl LTree {
    /// Returns the labels, from the root.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.as_str().split('.').filter(|label| !label.is_empty())
    }
}

fn canonical(text: &str) -> Result<String, ScalarError> {
    // The empty path has no label; `split` would find an empty one.
    if !text.is_empty() && !text.split('.').all(is_label) {
        let rule = "expected labels of letters, digits, `_` and `-` joined by dots (ltree)";
        return Err(ScalarError::new(rule, text));
    }

    if text.split('.').count() > LIMITS.1 {
        return Err(ScalarError::new(
            "expected at most 65535 labels (ltree)",
            text,
        ));
    }

    Ok(text.to_owned())
}

fn is_label(label: &str) -> bool {
    let known = label
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    // PostgreSQL limits characters, not bytes.
    known && (1..=LIMITS.0).contains(&label.chars().count())
}
