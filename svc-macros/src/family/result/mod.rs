//! `#[svc_result]`: the result of a mutation, a union of a success and an error.
//!
//! One enum becomes three types: a struct for each member, with the fields common to all results,
//! and the union.

mod expand;
mod model;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro2::{Span, TokenStream};
use syn::Item;

use crate::errors::Errors;
use crate::fallback;

/// The enum, its two structs and their implementations.
pub(crate) fn expand(args: TokenStream, item: TokenStream, errors: &mut Errors) -> TokenStream {
    let args = parse::args(args, errors);
    match errors.ok(syn::parse2(item.clone())) {
        Some(Item::Enum(item)) => expand::full(model::build(args, item, errors), errors),
        Some(_) => {
            let instead = "`#[svc_result]` goes on an enum, such as \
                           `enum CreateUserResult { Success { user: Option<User> }, Error }`";
            errors.push(syn::Error::new(Span::call_site(), instead));
            fallback::strip(item)
        }
        None => fallback::strip(item),
    }
}
