//! `#[svc::test]`: a test with its own database.

mod expand;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use syn::{Attribute, FnArg, ItemFn};

use crate::errors::Errors;

/// The test, or the unchanged function after an error.
pub(crate) fn expand(args: TokenStream, item: TokenStream, errors: &mut Errors) -> TokenStream {
    let args = parse::args(args, errors);
    let Some(function) = errors.ok(syn::parse2::<ItemFn>(item.clone())) else {
        return item;
    };

    check(&function, errors);

    match errors.is_empty() {
        true => expand::test(&args, function),
        false => expand::unused(function),
    }
}

/// Reports a signature that does not fit a test.
fn check(function: &ItemFn, errors: &mut Errors) {
    let sig = &function.sig;
    if sig.asyncness.is_none() {
        errors.at(
            &sig.fn_token,
            "a test with a database waits for it; write `async fn`",
        );
    }

    if !sig.generics.params.is_empty() {
        errors.at(
            &sig.generics,
            "a test cannot be generic; remove the parameters",
        );
    }

    let mut inputs = sig.inputs.iter();
    match inputs.next() {
        Some(FnArg::Typed(_)) => {}
        Some(FnArg::Receiver(this)) => errors.at(
            this,
            "a test is no method; take `database: svc::testing::Database`",
        ),
        None => errors.at(
            &sig.ident,
            "the test takes no database; add the parameter `database: svc::testing::Database`, or \
             write `#[tokio::test]` in place of `#[svc::test]`",
        ),
    }

    for other in inputs {
        errors.at(
            other,
            "a test takes its database alone; make further databases by `Database::create`",
        );
    }

    for attr in function.attrs.iter().filter(|attr| is_test(attr)) {
        errors.at(
            attr,
            "`#[svc::test]` makes the function a test; remove this attribute",
        );
    }
}

/// Whether an attribute marks a test: `#[test]`, `#[tokio::test]`.
fn is_test(attr: &Attribute) -> bool {
    attr.path()
        .segments
        .last()
        .is_some_and(|name| name.ident == "test")
}
