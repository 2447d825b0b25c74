//! `#[svc::query]`, `#[svc::mutation]` and `#[svc::subscription]`.

mod caching;
mod expand;
mod model;
mod parse;
mod rows;
mod stream;
mod table;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::quote;

use crate::errors::Errors;
use crate::fallback;
use crate::function::Function;
use model::Kind;

/// The function, if it has a body, and the type that represents the query.
pub(crate) fn query(args: TokenStream, item: TokenStream, errors: &mut Errors) -> TokenStream {
    expand(Kind::Query, args, item, errors)
}

/// The function, if it has a body, and the type that represents the mutation.
pub(crate) fn mutation(args: TokenStream, item: TokenStream, errors: &mut Errors) -> TokenStream {
    expand(Kind::Mutation, args, item, errors)
}

/// The function, if it has a body, and the type that represents the subscription.
pub(crate) fn subscription(
    args: TokenStream,
    item: TokenStream,
    errors: &mut Errors,
) -> TokenStream {
    expand(Kind::Subscription, args, item, errors)
}

fn expand(kind: Kind, args: TokenStream, item: TokenStream, errors: &mut Errors) -> TokenStream {
    let args = parse::args(kind, args, errors);
    let Some(mut function) = parse::function(kind, item.clone(), errors) else {
        return fallback::strip(item);
    };

    let field = model::build(kind, args, &mut function, errors);
    let generated = match function.sig.receiver() {
        // A method is in an `impl` block, where no type can be declared.
        Some(_) => TokenStream::new(),
        None if errors.is_empty() => expand::full(&field),
        None => expand::stub(&field),
    };

    // rustc accepts a function without a body only as the input of a macro.
    let function: Option<Function> = function.body.is_some().then_some(function);

    // Arguments arrive by value, whether the body consumes them or not.
    let lints = function
        .is_some()
        .then(|| quote!(#[allow(clippy::needless_pass_by_value)]));

    quote!(#lints #function #generated)
}
