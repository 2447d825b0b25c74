//! Names in paths of pages.

use super::ScalarError;
use super::form::text_newtype;

text_newtype! {
    /// A name that stands in the path of a page: lower-case ASCII letters and digits, in words
    /// joined by single hyphens. No standard defines it; the text is canonical as it is.
    ///
    /// ```
    /// use svc::scalar::Slug;
    ///
    /// assert_eq!("hello-world-2".parse::<Slug>()?.as_str(), "hello-world-2");
    /// assert!("-hello".parse::<Slug>().is_err());
    /// # Ok::<(), svc::scalar::ScalarError>(())
    /// ```
    Slug,
    canonical = canonical,
    description = "Lower-case letters and digits in words joined by hyphens."
}

fn canonical(text: &str) -> Result<String, ScalarError> {
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };

    if text.split('-').all(is_word) {
        return Ok(text.to_owned());
    }

    Err(ScalarError::new(
        "expected lower-case letters and digits in words joined by single hyphens",
        text,
    ))
}
