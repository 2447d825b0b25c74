//! Scalars for the fields and arguments of a schema, and how to make one's own.

mod calendar;
mod canonical;
mod kind;
mod library;
mod real;
pub mod sql_value;
pub(crate) mod text;
mod time_of_day;

pub use calendar::{is_finer_than_micros, to_micros};
pub(crate) use calendar::{sql_date, sql_instant};
pub use canonical::{is_canonical, is_escaped_once, is_integer, write_canonical};
#[doc(hidden)]
pub use kind::{CustomScalar, ScalarKind, ScalarMeta};
pub use library::{
    Cidr, Color, CountryCode, CurrencyCode, DateRange, Duration, Inet, LTree, LanguageCode,
    Latitude, Longitude, MacAddress, Money, Percentage, PhoneNumber, Port, ScalarError,
    SearchVector, Slug,
};
#[cfg(feature = "scalars")]
pub use library::{EmailAddress, Hostname, Iban, LocaleCode, SemanticVersion, Timezone, Url};
pub use real::{is_between_reals, shortest_decimal, to_real};
pub(crate) use text::is_decimal;
pub use text::{
    LeafError, big_integer, canonical, parse_decimal, sql_form, write_big_integer, write_date,
    write_float, write_instant, write_integer, write_value,
};
pub(crate) use time_of_day::parse_time;
pub use time_of_day::{end_of_day, write_time};
