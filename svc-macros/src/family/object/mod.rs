//! `#[svc_type]` on a struct; on an `impl` block it is the [`computed`](super::computed) family.

mod expand;
mod joining;
mod key_names;
mod model;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Item, ItemStruct};

use crate::errors::Errors;
use crate::fallback;

/// The struct or `impl` block, and its implementations.
pub(crate) fn expand(args: TokenStream, item: TokenStream, errors: &mut Errors) -> TokenStream {
    // Before syn parses the item: it rejects methods without a body.
    if crate::family::computed::is_impl(&item) {
        return crate::family::computed::expand(args, item, errors);
    }

    match fallback::read(item.clone(), errors) {
        Some(Item::Struct(item)) => structure(args, item, &[], "", errors),
        Some(Item::Enum(other)) => {
            let instead = "`#[svc_type]` goes on a struct; an enum is an `#[svc_enum]`, \
                           `#[svc_union]` or `#[svc_interface]`";
            errors.at(&other.enum_token, instead);
            fallback::strip(item)
        }
        Some(_) => {
            let instead =
                "`#[svc_type]` goes on a struct with named fields, or on its `impl` block";
            errors.push(syn::Error::new(proc_macro2::Span::call_site(), instead));
            fallback::strip(item)
        }
        None => fallback::strip(item),
    }
}

/// A member of a mutation's result; svc describes the first fields of each `side`.
pub(crate) fn member(
    args: TokenStream,
    item: TokenStream,
    automatic: &[&str],
    side: &str,
    errors: &mut Errors,
) -> TokenStream {
    match errors.ok(syn::parse2(item.clone())) {
        Some(item) => structure(args, item, automatic, side, errors),
        None => fallback::strip(item),
    }
}

fn structure(
    args: TokenStream,
    mut item: ItemStruct,
    automatic: &[&str],
    side: &str,
    errors: &mut Errors,
) -> TokenStream {
    let args = parse::args(args, errors);
    let mut object = model::build(args, &mut item, errors);

    // The automatic fields are the first ones, in this order.
    for (field, name) in object.fields.iter_mut().zip(automatic) {
        field.described_by = Some(format_ident!(
            "{}_{}",
            side.to_uppercase(),
            name.to_uppercase()
        ));
    }

    let generated = if errors.is_empty() {
        expand::full(&object)
    } else {
        expand::stub(&object)
    };

    quote!(#item #generated)
}
