//! `#[svc_interface]` and `#[svc_union]`: enums over object types.

mod expand;
mod model;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Item, LitStr};

use crate::errors::Errors;
use crate::fallback;
use crate::krate::Crate;

/// An interface: the enum and its implementations.
pub(crate) fn interface(args: TokenStream, item: TokenStream, errors: &mut Errors) -> TokenStream {
    let args = parse::interface(args, errors);
    expand(args, item, "svc_interface", errors)
}

/// A union: the enum and its implementations.
pub(crate) fn union(args: TokenStream, item: TokenStream, errors: &mut Errors) -> TokenStream {
    let args = parse::union(args, errors);
    expand(args, item, "svc_union", errors)
}

/// The union of a mutation's result, with the description of its members.
pub(crate) fn result(
    name: Option<LitStr>,
    krate: Crate,
    item: TokenStream,
    meta: TokenStream,
    errors: &mut Errors,
) -> TokenStream {
    let args = parse::Args {
        name,
        krate,
        result: Some(meta),
        ..parse::Args::default()
    };
    expand(args, item, "svc_result", errors)
}

fn expand(
    args: parse::Args,
    item: TokenStream,
    attribute: &str,
    errors: &mut Errors,
) -> TokenStream {
    match errors.ok(syn::parse2(item.clone())) {
        Some(Item::Enum(mut item)) => {
            let model = model::build(args, &mut item, errors);
            let generated = if errors.is_empty() {
                expand::full(&model)
            } else {
                expand::stub(&model)
            };
            quote!(#item #generated)
        }
        Some(_) => {
            let instead = format!(
                "`#[{attribute}]` goes on an enum of its members, such as \
                 `enum Any {{ User(User), Post(Post) }}`"
            );
            errors.push(syn::Error::new(Span::call_site(), instead));
            fallback::strip(item)
        }
        None => fallback::strip(item),
    }
}
