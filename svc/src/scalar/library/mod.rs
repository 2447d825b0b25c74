//! The scalars beyond GraphQL's own and the ones of Rust types: newtypes that hold only what their rule allows.

mod codes;
mod color;
mod date_range;
mod duration;
mod error;
mod form;
mod host;
mod locale;
mod ltree;
mod money;
mod network;
mod number;
mod phone;
mod search_vector;
mod slug;
#[cfg(test)]
mod tests;
mod version;

pub use codes::{CountryCode, CurrencyCode, LanguageCode, Timezone};
pub use color::Color;
pub use date_range::DateRange;
pub use duration::Duration;
pub use error::ScalarError;
pub use host::{EmailAddress, Hostname, Url};
pub use locale::LocaleCode;
pub use ltree::LTree;
pub use money::{Iban, Money};
pub use network::{Cidr, Inet, MacAddress};
pub use number::{Latitude, Longitude, Percentage, Port};
pub use phone::PhoneNumber;
pub use search_vector::SearchVector;
pub use slug::Slug;
pub use version::SemanticVersion;
