//! Scalars for the fields and arguments of a schema, and how to make one's own.
//!
//! Each type here is a newtype that only holds what its rule allows. It is read with
//! [`FromStr`](std::str::FromStr), and its [`Display`](std::fmt::Display) is the canonical form,
//! which a client gets whatever the view holds. Rust's own types are scalars as well: [`String`],
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
//! Those that need a crate of their own are there with the feature `scalars`, which is on by
//! default: [`EmailAddress`], [`Hostname`], [`Iban`], [`LocaleCode`], [`SemanticVersion`],
//! [`Timezone`] and [`Url`].
//!
//! One's own scalar is a type with [`ScalarType`](crate::prelude::ScalarType) and
//! [`svc_scalar`](macro@crate::svc_scalar); [`ScalarError`] makes its messages like those of the
//! scalars here.

mod calendar;
mod canonical;
mod kind;
mod library;
mod real;
pub(crate) mod sql_value;
pub(crate) mod text;
mod time_of_day;

pub(crate) use calendar::{is_finer_than_micros, sql_date, sql_instant, to_micros};
pub(crate) use canonical::{is_canonical, is_escaped_once, is_integer, write_canonical};
#[doc(hidden)]
pub use kind::{CustomScalar, ScalarKind, ScalarMeta};
pub use library::{
    Cidr, Color, CountryCode, CurrencyCode, DateRange, Duration, Inet, LTree, LanguageCode,
    Latitude, Longitude, MacAddress, Money, Percentage, PhoneNumber, Port, ScalarError,
    SearchVector, Slug,
};
#[cfg(feature = "scalars")]
pub use library::{EmailAddress, Hostname, Iban, LocaleCode, SemanticVersion, Timezone, Url};
pub(crate) use real::{is_between_reals, shortest_decimal, to_real};
pub(crate) use text::{
    LeafError, big_integer, canonical, is_decimal, parse_decimal, sql_form, write_big_integer,
    write_date, write_float, write_instant, write_integer, write_value,
};
pub(crate) use time_of_day::{end_of_day, parse_time, write_time};
