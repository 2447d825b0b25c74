//! `#[svc_scalar]` on an `impl ScalarType`.

mod expand;
mod model;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;

use crate::errors::Errors;

/// The `impl` block as it is, and what makes the type a scalar of the schema.
pub(crate) fn expand(args: TokenStream, item: TokenStream, errors: &mut Errors) -> TokenStream {
    let args = parse::args(args, errors);
    let header = errors.ok(syn::parse2::<parse::Header>(item.clone()));
    let model = header.and_then(|header| model::build(args, header, errors));
    let generated = model.map(|model| if errors.is_empty() { expand::full(&model) } else { expand::stub(&model) });
    let mut tokens = item;
    tokens.extend(generated);
    tokens
}
