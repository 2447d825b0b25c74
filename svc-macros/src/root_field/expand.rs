//! The type that stands for the field.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned as _;

use super::model::{Resolver, RootField};
use super::parse::OnFailure;
use crate::element;
use crate::function::Caller;
use crate::types;

/// Everything.
pub(super) fn full(field: &RootField) -> TokenStream {
    let Some(output) = &field.output else { return stub(field) };
    let krate = &field.krate;
    let args = field.params.args().map(|arg| arg.meta(krate, &arg.type_ref(krate, None)));
    let answers = match field.resolver {
        Resolver::Planned => quote!(PlannedReturn),
        Resolver::Function(_) => quote!(FunctionReturn),
        Resolver::Sync | Resolver::Async => quote!(Returns),
    };
    let outside = types::outside(output, None);
    let ty = quote_spanned!(types::span(output)=> <#outside as #krate::#answers>::type_ref);
    implementation(field, &quote!(#(#args),*), &ty, &run(field, output))
}

/// A type that only exists, so that a mistake in the function is the only message.
pub(super) fn stub(field: &RootField) -> TokenStream {
    let krate = &field.krate;
    let (ty, run) = (
        quote!(|_| ::core::unreachable!()),
        quote!(#krate::Run::Code(&#krate::Resolver::Sync(|_| ::core::unreachable!()))),
    );
    implementation(field, &TokenStream::new(), &ty, &run)
}

fn implementation(field: &RootField, args: &TokenStream, ty: &TokenStream, run: &TokenStream) -> TokenStream {
    let RootField { krate, ident, vis, cfgs, .. } = field;
    let (kind, name) = (format_ident!("{}", field.kind.name()), &field.element.rust);
    let (element, import, rules) = (field.element.meta(krate), krate.import(), rules(field));
    // A struct of this name would hide the type of Rust, so the type itself stands for the function.
    let owner = types::is_primitive(ident).then(|| quote!(__Owner));
    let stands = match owner {
        Some(_) => TokenStream::new(),
        None => quote! {
            #(#cfgs)*
            #[doc(hidden)]
            #[allow(non_camel_case_types, missing_debug_implementations, unreachable_pub)]
            #vis struct #ident {}
        },
    };
    let declared = owner.as_ref().map(|owner| quote!(pub struct #owner;));
    let owner = owner.map(|owner| quote!(<#owner>));
    quote! {
        #stands
        #(#cfgs)*
        #[allow(deprecated)]
        const _: () = {
            #import
            #declared
            #[automatically_derived]
            impl #krate::RootField #owner for #ident {
                const META: &'static #krate::RootFieldMeta = &#krate::RootFieldMeta {
                    element: #element,
                    path: ::core::concat!(::core::module_path!(), "::", #name),
                    kind: #krate::OperationKind::#kind,
                    args: &[#args],
                    ty: #ty,
                    run: #run,
                    rules: #rules,
                };
            }
            #[automatically_derived]
            impl #krate::#kind #owner for #ident {}
        };
    }
}

fn rules(field: &RootField) -> TokenStream {
    let RootField { krate, authorizer, guards, .. } = field;
    if authorizer.is_none() && guards.is_empty() {
        return quote!(#krate::RootRules::NONE);
    }
    let guards = guards.tokens(krate);
    let authorizer = match authorizer {
        None => quote!(None),
        Some(path) => {
            let own = quote_spanned!(path.span()=> #krate::OwnAuthorizer::new(&#path));
            quote!(Some(&const { #own }))
        }
    };
    quote!(#krate::RootRules { authorizer: ::core::option::Option::#authorizer, guards: #guards })
}

fn run(field: &RootField, output: &Type) -> TokenStream {
    let RootField { krate, ident, params, resolver, context, on_failure, .. } = field;
    if let Resolver::Function(name) = resolver {
        let on_failure = format_ident!("{}", if *on_failure == OnFailure::Commit { "Commit" } else { "Rollback" });
        let checks = params.args().map(|arg| {
            let ty = types::outside(&arg.ty, None);
            quote_spanned!(types::span(&arg.ty)=> #krate::check_input::<#ty>)
        });
        let place = element::place(krate, ident);
        return quote!(#krate::Run::Function(#krate::FunctionMeta {
            name: #name,
            context: &[#(#context),*],
            on_failure: #krate::OnFailure::#on_failure,
            checks: &[#(#checks),*],
            place: #place,
        }));
    }
    if *resolver == Resolver::Planned {
        let outside = types::outside(output, None);
        let (shape, row) = (
            quote_spanned!(types::span(output)=> <#outside as #krate::PlannedReturn>::SHAPE),
            quote_spanned!(types::span(output)=> <#outside as #krate::PlannedReturn>::row),
        );
        return quote!(#krate::Run::Planned(#krate::PlannedMeta { shape: #shape, row: #row }));
    }
    let asynchronous = *resolver == Resolver::Async;
    let code =
        Caller { krate, callee: quote!(#ident), receiver: None, params, output, asynchronous }.variant("Resolver");
    quote!(#krate::Run::Code(#code))
}
