//! `#[svc_type]` on a struct; on an `impl` block it is the [`computed`](crate::computed) family.

mod expand;
mod model;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Item;

use crate::errors::Errors;
use crate::fallback;

/// The struct or `impl` block, and its implementations.
pub(crate) fn expand(args: TokenStream, item: TokenStream, errors: &mut Errors) -> TokenStream {
    if crate::computed::is_impl(&item) {
        return crate::computed::expand(args, item, errors);
    }
    match errors.ok(syn::parse2(item.clone())) {
        Some(Item::Struct(mut item)) => {
            let args = parse::args(args, errors);
            let Some(object) = model::build(args, &mut item, errors) else { return item.into_token_stream() };
            let generated = if errors.is_empty() { expand::full(&object) } else { expand::stub(&object) };
            quote!(#item #generated)
        }
        Some(Item::Enum(other)) => {
            let instead =
                "`#[svc_type]` goes on a struct; an enum is an `#[svc_enum]`, `#[svc_union]` or `#[svc_interface]`";
            errors.at(&other.enum_token, instead);
            fallback::strip(item)
        }
        Some(_) => {
            let instead = "`#[svc_type]` goes on a struct with named fields, or on its `impl` block";
            errors.push(syn::Error::new(proc_macro2::Span::call_site(), instead));
            fallback::strip(item)
        }
        None => fallback::strip(item),
    }
}
