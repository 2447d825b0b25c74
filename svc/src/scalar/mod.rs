//! Scalars: their Rust types, and their one JSON form on every path.

mod builtin;
mod custom;
mod kind;
mod text;

pub use custom::{parse_scalar, recode_scalar, stored_scalar, write_scalar};
pub use kind::{CustomScalar, ScalarKind, ScalarMeta};
pub(crate) use text::{
    LeafError, canonical, integer, shorten, write_big_integer, write_date, write_float, write_instant, write_integer,
    write_text, write_time, write_value,
};
