//! Language tags.

use oxilangtag::LanguageTag;

use crate::scalar::library::ScalarError;
use crate::scalar::library::form::text_newtype;

text_newtype! {
    /// A language tag ([BCP 47](https://www.rfc-editor.org/info/bcp47)), such as `de-CH`.
    ///
    /// The tag is well formed; that its subtags are registered is not checked. Canonical has the
    /// case of BCP 47: languages in lower case, scripts capitalised, regions in upper case.
    ///
    /// ```
    /// use svc::scalar::LocaleCode;
    ///
    /// let locale: LocaleCode = "ZH-hant-tw".parse()?;
    /// assert_eq!(locale.as_str(), "zh-Hant-TW");
    /// assert_eq!((locale.language(), locale.region()), ("zh", Some("TW")));
    /// # Ok::<(), svc::scalar::ScalarError>(())
    /// ```
    LocaleCode,
    canonical = canonical,
    description = "A language tag such as `de-CH`.",
    specified_by = "https://www.rfc-editor.org/info/bcp47"
}

impl LocaleCode {
    /// Returns the language.
    #[must_use]
    pub fn language(&self) -> &str {
        self.as_str().split('-').next().unwrap_or_default()
    }

    /// Returns the region, when the tag names one.
    #[must_use]
    pub fn region(&self) -> Option<&str> {
        let tag = LanguageTag::parse(self.as_str()).ok()?;
        // The tag ends with this function and its accessors borrow from it, so the region is found
        // again in `self`.
        let region = tag.region()?;
        self.as_str().split('-').find(|subtag| *subtag == region)
    }
}

fn canonical(text: &str) -> Result<String, ScalarError> {
    let found = LanguageTag::parse_and_normalize(text);
    found
        .map(LanguageTag::into_inner)
        .map_err(|_| ScalarError::new("expected a language tag such as `de-CH` (BCP 47)", text))
}
