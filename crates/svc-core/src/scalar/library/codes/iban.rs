//! Numbers of bank accounts.

use iban::{IbanLike as _, ParseBaseIbanError, ParseIbanError};

use crate::scalar::library::ScalarError;
use crate::scalar::library::form::text_newtype;

text_newtype! {
    /// The number of a bank account ([ISO 13616](https://www.iso.org/standard/81090.html)).
    ///
    /// The country's length and pattern and the check digits (ISO 7064, mod 97-10) are checked.
    /// Canonical is the electronic form, in upper case without spaces; the printed form, in groups
    /// of four, is read.
    ///
    /// ```
    /// use svc::scalar::Iban;
    ///
    /// let account: Iban = "DE44 5001 0517 5407 3249 31".parse()?;
    /// assert_eq!(account.as_str(), "DE44500105175407324931");
    /// assert_eq!(account.country(), "DE");
    /// # Ok::<(), svc::scalar::ScalarError>(())
    /// ```
    Iban,
    canonical = account,
    description = "The international number of a bank account, without spaces.",
    specified_by = "https://www.iso.org/standard/81090.html"
}

impl Iban {
    /// Returns the country, as ISO 3166-1 alpha-2 names it.
    #[must_use]
    pub fn country(&self) -> &str {
        &self.as_str()[..2]
    }
}

fn account(text: &str) -> Result<String, ScalarError> {
    let found = text.to_ascii_uppercase().parse::<iban::Iban>();
    found
        .map(|iban| iban.electronic_str().to_owned())
        .map_err(|error| {
            let rule = match error {
                ParseIbanError::InvalidBaseIban {
                    source: ParseBaseIbanError::InvalidChecksum,
                } => "expected an IBAN with the right check digits (ISO 7064, mod 97-10)",
                ParseIbanError::UnknownCountry(_) => {
                    "expected an IBAN of a country that has them (ISO 13616)"
                }
                ParseIbanError::InvalidBban(_) => {
                    "expected an IBAN with its country's length and pattern (ISO 13616)"
                }
                ParseIbanError::InvalidBaseIban { .. } => {
                    "expected an IBAN such as `DE44500105175407324931` (ISO 13616)"
                }
            };

            ScalarError::new(rule, text)
        })
}
