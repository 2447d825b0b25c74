//! The type that stands for the operation.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Type;

use super::model::{Operation, Source};
use super::parse::OnFailure;
use crate::function::Caller;
use crate::types;

/// Everything.
pub(super) fn full(operation: &Operation) -> TokenStream {
    let Some(output) = &operation.output else { return stub(operation) };
    let krate = &operation.krate;
    let args = operation.params.args().map(|arg| arg.meta(krate, &arg.type_ref(krate, None)));
    let answers = match operation.source {
        Source::Planned => quote!(PlannedReturn),
        Source::Function(_) => quote!(FunctionReturn),
        Source::Sync | Source::Async => quote!(Returns),
    };
    let outside = types::outside(output, None);
    let ty = quote_spanned!(types::span(output)=> <#outside as #krate::#answers>::type_ref);
    implementation(operation, &quote!(#(#args),*), &ty, &run(operation, output))
}

/// A type that only exists, so that a mistake in the function is the only message.
pub(super) fn stub(operation: &Operation) -> TokenStream {
    let krate = &operation.krate;
    let (ty, run) = (quote!(|_| ::core::unreachable!()), quote!(#krate::Run::Sync(|_| ::core::unreachable!())));
    implementation(operation, &TokenStream::new(), &ty, &run)
}

fn implementation(operation: &Operation, args: &TokenStream, ty: &TokenStream, run: &TokenStream) -> TokenStream {
    let Operation { krate, ident, vis, cfgs, .. } = operation;
    let (kind, name) = (format_ident!("{}", operation.kind.name()), &operation.element.rust);
    let (element, import) = (operation.element.meta(krate), krate.import());
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #[allow(non_camel_case_types, missing_debug_implementations, unreachable_pub)]
        #vis struct #ident {}
        #(#cfgs)*
        #[allow(deprecated)]
        const _: () = {
            #import
            #[automatically_derived]
            impl #krate::Operation for #ident {
                const META: &'static #krate::OperationMeta = &#krate::OperationMeta {
                    element: #element,
                    path: ::core::concat!(::core::module_path!(), "::", #name),
                    kind: #krate::OperationKind::#kind,
                    args: &[#args],
                    ty: #ty,
                    run: #run,
                };
            }
            #[automatically_derived]
            impl #krate::#kind for #ident {}
        };
    }
}

fn run(operation: &Operation, output: &Type) -> TokenStream {
    let Operation { krate, ident, params, source, context, on_failure, .. } = operation;
    if let Source::Function(name) = source {
        let on_failure = format_ident!("{}", if *on_failure == OnFailure::Commit { "Commit" } else { "Rollback" });
        let checks = params.args().map(|arg| {
            let ty = types::outside(&arg.ty, None);
            quote_spanned!(types::span(&arg.ty)=> #krate::check_input::<#ty>)
        });
        return quote!(#krate::Run::Function(#krate::FunctionMeta {
            name: #name,
            context: &[#(#context),*],
            on_failure: #krate::OnFailure::#on_failure,
            checks: &[#(#checks),*],
        }));
    }
    if *source == Source::Planned {
        let outside = types::outside(output, None);
        let (shape, row) = (
            quote_spanned!(types::span(output)=> <#outside as #krate::PlannedReturn>::SHAPE),
            quote_spanned!(types::span(output)=> <#outside as #krate::PlannedReturn>::row),
        );
        return quote!(#krate::Run::Planned(#krate::PlannedMeta { shape: #shape, row: #row }));
    }
    let asynchronous = *source == Source::Async;
    Caller { krate, callee: quote!(#ident), receiver: None, params, output, asynchronous }.variant("Run")
}
