//! `#[svc_type]` on an `impl` block: its methods are computed fields.

mod expand;
mod model;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};

use crate::errors::Errors;
use crate::fallback;

/// Whether the item, after its attributes, is an `impl` block.
pub(crate) fn is_impl(item: &TokenStream) -> bool {
    let mut tokens = item.clone().into_iter();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(hash) if hash.as_char() == '#' => drop(tokens.next()),
            TokenTree::Ident(word) if word == "unsafe" => {}
            TokenTree::Ident(word) => return word == "impl",
            _ => return false,
        }
    }

    false
}

/// The block without our attributes, and the constant with its computed fields.
pub(crate) fn expand(args: TokenStream, item: TokenStream, errors: &mut Errors) -> TokenStream {
    let krate = parse::args(args, errors);
    let Some(mut block) = errors.ok(syn::parse2::<parse::Block>(item.clone())) else {
        return fallback::strip(item);
    };

    let Some(computed) = model::build(krate, &mut block, errors) else {
        return fallback::strip(item);
    };

    // A block without its constant has no computed fields, which is a good stub.
    let generated = errors.is_empty().then(|| expand::full(&computed));
    let block = block.into_token_stream();

    // Arguments arrive by value, whether the body consumes them or not.
    quote!(#[allow(clippy::needless_pass_by_value)] #block #generated)
}
