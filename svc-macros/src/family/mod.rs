//! The families of macros, and the helpers of their tests.

pub(crate) mod abstract_type;
#[cfg(test)]
mod check;
mod computed;
pub(crate) mod database_test;
pub(crate) mod enumeration;
pub(crate) mod input;
pub(crate) mod metered;
pub(crate) mod object;
pub(crate) mod result;
pub(crate) mod root_field;
pub(crate) mod scalar;
pub(crate) mod traced;

use proc_macro2::TokenStream;

use crate::errors::Errors;

/// A family of macros: reads the arguments and the item, and returns the item with the generated
/// code.
pub(crate) type Family = fn(TokenStream, TokenStream, &mut Errors) -> TokenStream;
