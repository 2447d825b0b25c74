//! The scalars beyond GraphQL's own and the ones of Rust types: newtypes that hold only what their
//! rule allows.

mod codes;
mod color;
mod date_range;
mod duration;
mod error;
mod form;
#[cfg(feature = "scalars")]
mod host;
#[cfg(feature = "scalars")]
mod iban;
#[cfg(feature = "scalars")]
mod locale;
mod ltree;
mod money;
mod network;
mod number;
mod phone;
mod search_vector;
mod slug;
#[cfg(all(test, feature = "scalars"))]
mod tests;
#[cfg(feature = "scalars")]
mod version;

#[cfg(feature = "scalars")]
pub use codes::Timezone;
pub use codes::{CountryCode, CurrencyCode, LanguageCode};
pub use color::Color;
pub use date_range::DateRange;
pub use duration::Duration;
pub use error::ScalarError;
#[cfg(feature = "scalars")]
pub use host::{EmailAddress, Hostname, Url};
#[cfg(feature = "scalars")]
pub use iban::Iban;
#[cfg(feature = "scalars")]
pub use locale::LocaleCode;
pub use ltree::LTree;
pub use money::Money;
pub use network::{Cidr, Inet, MacAddress};
pub use number::{Latitude, Longitude, Percentage, Port};
pub use phone::PhoneNumber;
pub use search_vector::SearchVector;
pub use slug::Slug;
#[cfg(feature = "scalars")]
pub use version::SemanticVersion;
