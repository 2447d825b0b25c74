//! `#[svc_enum]`.

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

/// The enum and its implementations.
pub(crate) fn expand(args: TokenStream, item: TokenStream, errors: &mut Errors) -> TokenStream {
    let args = parse::args(args, errors);
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
            errors.push(syn::Error::new(
                Span::call_site(),
                "`#[svc_enum]` goes on an enum, such as `enum Role { Admin, Member }`",
            ));
            fallback::strip(item)
        }
        None => fallback::strip(item),
    }
}
