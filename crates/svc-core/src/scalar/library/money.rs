//! Amounts of money.

use std::fmt::{self, Display};
use std::str::FromStr;

use rust_decimal::Decimal;

use super::form::text_form;
use super::{CurrencyCode, ScalarError};
use crate::scalar::is_decimal;

/// An amount of money: an exact decimal number, a space, and an ISO 4217 code, as in `12.30 EUR`.
///
/// Canonical keeps the digits as they were given, so that `12.30 EUR` does not become `12.3 EUR`,
/// though the two are equal; the code is in upper case. The fraction may be finer than the
/// currency's, as prices of single units are. Up to 28 digits are exact. The database holds it as
/// text; the amount and the code as two columns sort and sum better.
///
/// ```
/// use svc::scalar::Money;
///
/// let price: Money = "12.30 EUR".parse()?;
/// assert_eq!((price.amount().to_string(), price.currency().as_str()), ("12.30".to_owned(), "EUR"));
/// # Ok::<(), svc::scalar::ScalarError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    amount: Decimal,
    currency: CurrencyCode,
}

impl Money {
    /// Creates an amount of a currency.
    #[must_use]
    pub fn new(amount: Decimal, currency: CurrencyCode) -> Self {
        Self { amount, currency }
    }

    /// Returns the amount.
    #[must_use]
    pub fn amount(self) -> Decimal {
        self.amount
    }

    /// Returns the currency.
    #[must_use]
    pub fn currency(self) -> CurrencyCode {
        self.currency
    }
}

impl FromStr for Money {
    type Err = ScalarError;
    fn from_str(text: &str) -> Result<Self, ScalarError> {
        let rule = "expected an amount and an ISO 4217 code such as `12.30 EUR`";
        money(text).ok_or_else(|| ScalarError::new(rule, text))
    }
}

fn money(text: &str) -> Option<Money> {
    let (amount, currency) = text.split_once(' ')?;

    // `Decimal` also reads underscores and a plus sign, and `from_str` would round a fraction that
    // is too long.
    let amount = is_decimal(amount)
        .then(|| Decimal::from_str_exact(amount).ok())
        .flatten()?;
    Some(Money {
        amount,
        currency: currency.parse().ok()?,
    })
}

impl Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} {}", self.amount, self.currency))
    }
}

text_form!(
    Money,
    description = "An amount and an ISO 4217 currency code, as in `12.30 EUR`."
);
