//! The scalars beyond GraphQL's own and the ones of Rust types: newtypes that hold only what their
//! rule allows.

mod addresses;
mod codes;
mod color;
mod error;
mod form;
mod ltree;
mod money;
mod number;
mod phone;
mod search_vector;
mod slug;
#[cfg(all(test, feature = "scalars"))]
mod tests;
mod times;
#[cfg(feature = "scalars")]
mod version;

pub use addresses::{Cidr, Inet, MacAddress};
#[cfg(feature = "scalars")]
pub use addresses::{EmailAddress, Hostname, Url};
pub use codes::{CountryCode, CurrencyCode, LanguageCode};
#[cfg(feature = "scalars")]
pub use codes::{Iban, LocaleCode, Timezone};
pub use color::Color;
pub use error::ScalarError;
pub use ltree::LTree;
pub use money::Money;
pub use number::{Latitude, Longitude, Percentage, Port};
pub use phone::PhoneNumber;
pub use search_vector::SearchVector;
pub use slug::Slug;
pub use times::{DateRange, Duration};
#[cfg(feature = "scalars")]
pub use version::SemanticVersion;
