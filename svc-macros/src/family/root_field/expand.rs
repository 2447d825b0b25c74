//! The type generated for the field.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned as _;

use super::model::{Resolver, RootField};
use super::parse::{OnFailure, TargetRow};
use crate::element;
use crate::function::Caller;
use crate::keys::RateLimit;
use crate::types;

/// Everything.
pub(super) fn full(field: &RootField) -> TokenStream {
    let Some(output) = &field.output else {
        return stub(field);
    };

    let krate = &field.krate;
    let args = field
        .params
        .args()
        .map(|arg| arg.meta(krate, &arg.type_ref(krate, None), None));
    let answers = answers(&field.resolver);
    let outside = match &field.resolver {
        Resolver::Stream(stream) => stream.event(krate),
        _ => types::outside(output, None),
    };

    let ty = quote_spanned!(types::span(output)=> <#outside as #krate::#answers>::type_ref);

    implementation(field, &quote!(#(#args),*), &ty, &run(field, output))
}

/// The trait required of the field's return type.
fn answers(resolver: &Resolver) -> TokenStream {
    match resolver {
        Resolver::Planned(_) => quote!(PlannedReturn),
        Resolver::Events(_) => quote!(EventReturn),
        Resolver::Function(_) => quote!(FunctionReturn),
        Resolver::Write(_) => quote!(WrittenReturn),
        Resolver::Sync | Resolver::Async | Resolver::Stream(_) => quote!(Returns),
    }
}

/// A stub type, so that a mistake in the function is the only error.
pub(super) fn stub(field: &RootField) -> TokenStream {
    let krate = &field.krate;
    let (ty, run) = (
        quote!(|_| ::core::unreachable!()),
        quote!(#krate::Run::Code(&#krate::Resolver::Sync(|_| ::core::unreachable!()))),
    );
    implementation(field, &TokenStream::new(), &ty, &run)
}

fn implementation(
    field: &RootField,
    args: &TokenStream,
    ty: &TokenStream,
    run: &TokenStream,
) -> TokenStream {
    let RootField {
        krate,
        ident,
        vis,
        cfgs,
        ..
    } = field;

    let (kind, name) = (format_ident!("{}", field.kind.name()), &field.element.rust);
    let (element, import, rules) = (field.element.meta(krate), krate.import(), rules(field));

    // A struct of this name would shadow the primitive type, so the primitive type itself
    // represents the function.
    let owner = types::is_primitive(ident).then(|| quote!(__Owner));

    // The struct has the name and the visibility of the function, which lints on types reject. It
    // has braces because a unit struct would be a value too, and clash with the function.
    let stands = match owner {
        Some(_) => TokenStream::new(),
        None => quote! {
            #(#cfgs)*
            #[doc(hidden)]
            #[allow(non_camel_case_types, missing_debug_implementations, unreachable_pub)]
            #vis struct #ident {}
        },
    };

    // The local owner makes the orphan rule accept an implementation for a primitive type.
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
    let RootField {
        krate,
        authorizer,
        guards,
        rate_limit,
        caching,
        atomic,
        ..
    } = field;

    let has_access_rules = authorizer.is_some() || !guards.is_empty();
    if !has_access_rules && rate_limit.is_none() && caching.is_empty() && !atomic {
        return quote!(#krate::RootRules::NONE);
    }

    let guards = guards.tokens(krate);
    let authorizer = match authorizer {
        None => quote!(None),
        Some(path) => {
            let own = quote_spanned!(path.span()=> #krate::AuthorizerOf::new(&#path));
            quote!(Some(&const { #krate::OwnAuthorizer::new(&const { #own }) }))
        }
    };

    let rate_limit = match rate_limit {
        None => quote!(None),
        Some(RateLimit { count, window }) => {
            quote!(Some(#krate::RootLimit { count: #count, window: #window }))
        }
    };

    let caching = caching.tokens(krate);

    quote!(#krate::RootRules {
        authorizer: ::core::option::Option::#authorizer,
        guards: #guards,
        rate_limit: ::core::option::Option::#rate_limit,
        #caching,
        atomic: #atomic,
    })
}

fn acts_on(
    RootField {
        krate,
        params,
        acts_on,
        ..
    }: &RootField,
) -> TokenStream {
    // A missing argument has been reported by the model.
    let acted = acts_on.as_ref().and_then(|TargetRow { row, id }| {
        Some((row, params.args().position(|arg| arg.ident == *id)?))
    });
    let Some((row, at)) = acted else {
        return quote!(::core::option::Option::None);
    };
    let new = quote_spanned!(row.span()=> #krate::TargetRow::new::<#row>);
    quote!(::core::option::Option::Some(#new(#at)))
}

/// The checks that the Rust type of each argument accepts a value.
fn checks(RootField { krate, params, .. }: &RootField) -> TokenStream {
    let checks = params.args().map(|arg| {
        let ty = types::outside(&arg.ty, None);
        quote_spanned!(types::span(&arg.ty)=> #krate::check_input::<#ty>)
    });
    quote!(&[#(#checks),*])
}

fn run(field: &RootField, output: &Type) -> TokenStream {
    let RootField {
        krate,
        ident,
        params,
        resolver,
        ..
    } = field;

    match resolver {
        Resolver::Function(name) => function(field, name),
        Resolver::Write(write) => write.tokens(
            krate,
            params,
            output,
            &checks(field),
            &element::place(krate, ident),
        ),
        Resolver::Planned(_) | Resolver::Events(_) => planned(field, output),
        Resolver::Sync | Resolver::Async | Resolver::Stream(_) => code(field, output),
    }
}

/// The call of the function `name` of the database.
fn function(field: &RootField, name: &str) -> TokenStream {
    let RootField {
        krate,
        ident,
        context,
        on_failure,
        ..
    } = field;

    let on_failure = format_ident!(
        "{}",
        if *on_failure == OnFailure::Commit {
            "Commit"
        } else {
            "Rollback"
        }
    );

    let (checks, place) = (checks(field), element::place(krate, ident));
    let acts_on = acts_on(field);

    quote!(#krate::Run::Function(#krate::FunctionMeta {
        name: #name,
        context: &[#(#context),*],
        on_failure: #krate::OnFailure::#on_failure,
        acts_on: #acts_on,
        checks: #checks,
        place: #place,
    }))
}

/// The rows that one statement reads, or that events name.
fn planned(field: &RootField, output: &Type) -> TokenStream {
    let RootField {
        krate,
        ident,
        resolver,
        context,
        order_by,
        ..
    } = field;

    let outside = types::outside(output, None);
    let answers = answers(resolver);
    let (shape, row) = (
        quote_spanned!(types::span(output)=> <#outside as #krate::#answers>::SHAPE),
        quote_spanned!(types::span(output)=> <#outside as #krate::#answers>::row),
    );

    let order = order_by.as_ref().map(|order| {
        let keys = order.tokens(krate);
        quote_spanned!(order.at.span()=> .ordered(#keys))
    });

    let source = match resolver {
        Resolver::Planned(Some(source)) => Some(source.tokens(
            krate,
            context,
            &checks(field),
            &element::place(krate, ident),
        )),
        _ => None,
    };

    let planned = quote!(#krate::PlannedMeta::new(#shape, #row) #order #source);

    match resolver {
        Resolver::Events(channel) => {
            let meta =
                quote_spanned!(types::span(output)=> #krate::EventMeta::new(#channel, #planned));
            quote!(#krate::Run::Event(#meta))
        }
        _ => quote!(#krate::Run::Planned(#planned)),
    }
}

/// The call of the function's body.
fn code(field: &RootField, output: &Type) -> TokenStream {
    let RootField {
        krate,
        ident,
        params,
        resolver,
        asynchronous,
        ..
    } = field;

    let events = match resolver {
        Resolver::Stream(stream) => Some(stream.reader(krate)),
        _ => None,
    };

    let run = if events.is_some() {
        quote!(Stream)
    } else {
        quote!(Code)
    };

    let callee = quote!(#ident);
    let code = Caller {
        krate,
        callee,
        receiver: None,
        params,
        output,
        asynchronous: *asynchronous,
        batch: false,
        events,
    }
    .variant("Resolver");

    quote!(#krate::Run::#run(#code))
}
