//! The test that runs the function.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::ItemFn;

use super::parse::Args;

/// A plain test that contains the function.
pub(super) fn test(args: &Args, mut function: ItemFn) -> TokenStream {
    let Args {
        setup,
        sql,
        role,
        krate,
    } = args;

    // Attributes such as `#[should_panic]` have no effect on the function inside.
    let attrs = std::mem::take(&mut function.attrs);
    let (vis, name, output) = (&function.vis, &function.sig.ident, &function.sig.output);
    let (import, sql, role) = (krate.import(), sql.iter(), role.iter());
    let mut inner = function.clone();

    inner.vis = syn::Visibility::Inherited;

    quote! {
        #(#attrs)*
        // By its path, because `test` may be `svc::test` in the program's scope.
        #[::core::prelude::v1::test]
        #vis fn #name() #output {
            #inner
            #import
            let case = __svc::TestCase {
                name: ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)),
                folder: ::core::env!("CARGO_MANIFEST_DIR"),
                setup: |setup| setup #(.path(#setup))* #(.sql(#sql))* #(.role(#role))*,
            };

            // The name is the inner function, which shadows the test.
            __svc::run_test(&case, #name)
        }
    }
}

/// The function alone, so that the compiler still checks its body.
pub(super) fn unused(mut function: ItemFn) -> TokenStream {
    // `#[test]` would report the signature a second time.
    function.attrs.retain(|attr| !super::is_test(attr));
    let function = function.into_token_stream();
    quote! { #[allow(dead_code)] #function }
}
