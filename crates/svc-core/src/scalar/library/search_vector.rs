//! Documents for full text search.

use super::ScalarError;
use super::form::text_newtype;

text_newtype! {
    /// A text that is prepared for full text search: PostgreSQL's `tsvector`.
    ///
    /// A field of this type is there to be searched: its filter takes queries, and its order is the
    /// rank. The text is
    /// [PostgreSQL's](https://www.postgresql.org/docs/current/datatype-textsearch.html), words with
    /// their positions, and it is canonical as it is.
    ///
    /// ```
    /// use svc::scalar::SearchVector;
    ///
    /// let vector: SearchVector = "'cat':2 'sat':3".parse()?;
    /// assert_eq!(vector.as_str(), "'cat':2 'sat':3");
    /// # Ok::<(), svc::scalar::ScalarError>(())
    /// ```
    SearchVector,
    canonical = canonical,
    description = "A text prepared for full text search: words with their positions.",
    specified_by = "https://www.postgresql.org/docs/current/datatype-textsearch.html",
    sql_type = "tsvector"
}

fn canonical(text: &str) -> Result<String, ScalarError> {
    if text.contains('\0') {
        return Err(ScalarError::new(
            "expected a text without the character U+0000 (tsvector)",
            text,
        ));
    }
    Ok(text.to_owned())
}
