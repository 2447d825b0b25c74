//! Scalars for the fields and arguments of a schema, and traits to define your own.
//!
//! Each type here is a newtype whose values satisfy its rule. Parse it with
//! [`FromStr`](std::str::FromStr). Its [`Display`](std::fmt::Display) is the canonical form, which
//! clients get for every form in the view. Rust's own types are scalars as well: [`String`],
//! [`bool`], the numbers, [`Uuid`](crate::prelude::Uuid), [`DateTime`](crate::prelude::DateTime),
//! [`NaiveDate`](crate::prelude::NaiveDate), [`NaiveTime`](crate::prelude::NaiveTime),
//! [`Decimal`](crate::prelude::Decimal) and [`serde_json::Value`].
//!
//! ```
//! use svc::prelude::*;
//! use svc::scalar::{EmailAddress, Inet};
//!
//! #[svc_type(sql_source = "v_login")]
//! struct Login {
//!     email: EmailAddress,
//!     address: Inet,
//! }
//!
//! /// The logins from an address.
//! #[svc::query]
//! async fn logins(address: Inet) -> Vec<Login>;
//! ```
//!
//! The feature `scalars`, which is on by default, adds the scalars that need a crate of their own:
//! [`EmailAddress`], [`Hostname`], [`Iban`], [`LocaleCode`], [`SemanticVersion`],
//! [`Timezone`] and [`Url`].
//!
//! To define a scalar, implement [`ScalarType`](crate::prelude::ScalarType) for a type and add
//! [`svc_scalar`](macro@crate::svc_scalar). [`ScalarError`] writes messages in the style of the
//! scalars here.

#[doc(inline)]
pub use svc_core::scalar::{
    Cidr, Color, CountryCode, CurrencyCode, DateRange, Duration, Inet, LTree, LanguageCode,
    Latitude, Longitude, MacAddress, Money, Percentage, PhoneNumber, Port, ScalarError,
    SearchVector, Slug,
};
#[doc(hidden)]
pub use svc_core::scalar::{CustomScalar, ScalarKind, ScalarMeta};
#[cfg(feature = "scalars")]
#[doc(inline)]
pub use svc_core::scalar::{
    EmailAddress, Hostname, Iban, LocaleCode, SemanticVersion, Timezone, Url,
};
