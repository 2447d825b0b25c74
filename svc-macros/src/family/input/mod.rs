//! `#[svc_input]`: a struct, or an enum for exactly one variant per value.

mod expand;
mod model;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Item;

use crate::errors::Errors;
use crate::fallback;

/// The struct or enum and its implementation.
pub(crate) fn expand(args: TokenStream, item: TokenStream, errors: &mut Errors) -> TokenStream {
    let args = parse::args(args, errors);
    let (item, model) = match fallback::read(item.clone(), errors) {
        Some(Item::Struct(mut item)) => {
            let model = model::structure(args, &mut item, errors);
            (quote!(#item), model)
        }
        Some(Item::Enum(mut item)) => {
            let model = model::one_of(args, &mut item, errors);
            (quote!(#item), model)
        }
        Some(_) => {
            let instead = "`#[svc_input]` goes on a struct with named fields, or on an enum of \
                           which clients give one variant";
            errors.push(syn::Error::new(Span::call_site(), instead));
            return fallback::strip(item);
        }
        None => return fallback::strip(item),
    };

    let generated = if errors.is_empty() {
        expand::full(&model)
    } else {
        expand::stub(&model)
    };

    // Perhaps only functions of the database read the fields.
    quote!(#[allow(dead_code)] #item #generated)
}
