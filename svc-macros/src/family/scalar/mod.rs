//! `#[svc_scalar]` on an `impl ScalarType`.

mod expand;
mod model;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::quote;

use crate::errors::Errors;

/// The `impl` block, and the code that makes the type a scalar of the schema.
pub(crate) fn expand(args: TokenStream, item: TokenStream, errors: &mut Errors) -> TokenStream {
    let args = parse::args(args, errors);
    let Some(block) = errors.ok(syn::parse2::<parse::Block>(item.clone())) else {
        return item;
    };

    let Some(model) = model::build(args, &block, errors) else {
        return item;
    };

    let generated = if errors.is_empty() {
        expand::full(&model)
    } else {
        expand::stub(&model)
    };

    let block = expand::block(block);

    quote!(#block #generated)
}
