//! The three types generated for the result.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::{Attribute, Meta};

use super::model::{Member, ResultUnion, Side};
use crate::element;
use crate::errors::Errors;
use crate::family::{abstract_type, object};
use crate::krate::Crate;

/// Everything; after a mistake, types with stub implementations.
pub(super) fn full(result: ResultUnion, errors: &mut Errors) -> TokenStream {
    let members: TokenStream = result
        .members
        .iter()
        .map(|each| member(&result, each, errors))
        .collect();

    let made = made(&result);
    let ResultUnion {
        attrs, vis, ident, ..
    } = &result;
    let variants = result.members.iter().map(|member| {
        let ident = &member.ident;
        let variant = Ident::new(member.side.name(), ident.span());
        // The struct has the derives; rustc rejects them on a variant.
        let attrs = member
            .attrs
            .iter()
            .filter(|attr| !attr.path().is_ident("derive"));

        // Programs may warn of missing documentation.
        let doc =
            (!has(&member.attrs, "doc")).then(|| quote!(#[doc = "This member of the result."]));
        quote!(#(#attrs)* #doc #variant(#ident))
    });

    // A success has the entity and an error has not, so the difference in size is intended.
    let item = quote! {
        #(#attrs)* #[allow(deprecated, clippy::large_enum_variant)]
        #vis enum #ident { #(#variants),* }
    };

    let meta = meta(&result);
    let union = abstract_type::result(result.name, result.krate, item, meta, errors);

    quote!(#members #union #made)
}

fn has(attrs: &[Attribute], name: &str) -> bool {
    attrs.iter().any(|attr| attr.path().is_ident(name))
}

/// Attributes of the enum that its members share: its derives, conditions and lints.
///
/// Attributes that derives read, such as `#[serde(tag = "…")]`, belong to the enum alone.
fn is_shared(attr: &Meta) -> bool {
    const SHARED: [&str; 9] = [
        "derive",
        "cfg",
        "allow",
        "expect",
        "warn",
        "deny",
        "forbid",
        "must_use",
        "non_exhaustive",
    ];

    match attr.path().is_ident("cfg_attr") {
        true => element::conditional(attr).iter().all(is_shared),
        false => SHARED.iter().any(|name| attr.path().is_ident(name)),
    }
}

/// The struct of a member, an object type.
fn member(result: &ResultUnion, member: &Member, errors: &mut Errors) -> TokenStream {
    let ResultUnion {
        krate, attrs, vis, ..
    } = result;
    let Member {
        ident,
        name,
        fields,
        ..
    } = member;

    let shared = attrs.iter().filter(|attr| is_shared(&attr.meta));
    let own = member.attrs.iter();
    let doc = (!has(&member.attrs, "doc")).then(|| match member.side {
        Side::Success => quote!(#[doc = "The mutation did what it was asked to."]),
        Side::Error => quote!(#[doc = "The mutation changed nothing."]),
    });
    let automatic = automatic(result, member.side);

    // The item has the span of the variant, so that rustc points there if the program has a type of
    // this name.
    let span = Span::call_site().located_at(ident.span());

    // Only the location changes: a path in `pub(in …)` resolves where the program wrote it.
    let vis = vis.to_token_stream().into_iter().map(|mut token| {
        token.set_span(token.span().located_at(span));
        token
    });
    let item = quote_spanned!(span=> #(#vis)* struct #ident { #automatic #(#fields),* });
    let item = quote!(#(#shared)* #(#own)* #doc #item);
    let krate = krate.key();

    object::member(
        quote!(name = #name, #krate),
        item,
        &member.side.automatic(),
        member.side.name(),
        errors,
    )
}

/// The fields common to all members of this side, with descriptions in svc. Fields with the same
/// name have the same type, so that clients can select them on both members without an alias.
fn automatic(result: &ResultUnion, side: Side) -> TokenStream {
    let krate = result.krate.path();
    let [text, option] = [
        quote!(::std::string::String),
        quote!(::core::option::Option),
    ];

    match side {
        Side::Success => quote! {
            /// The outcome, such as `created`.
            pub status: #text,
            /// A sentence for people.
            pub message: #option<#text>,
            /// The fields that changed, where the function tells.
            pub updated_fields: #option<::std::vec::Vec<#text>>,
            /// The id of what was written.
            pub id: #option<#krate::async_graphql::ID>,
        },
        Side::Error => quote! {
            /// The mistake, such as `conflict:email_taken`.
            pub status: #text,
            /// A sentence for people; an error always has one.
            pub message: #option<#text>,
            /// The kind of error, as an HTTP status: 422, 401, 403, 404, 409, 408 or 500.
            pub code: ::core::primitive::i32,
            /// Each thing that is wrong.
            pub errors: ::std::vec::Vec<#krate::MutationError>,
        },
    }
}

/// The functions that create members and the union of them, for mutations with a body.
fn made(result: &ResultUnion) -> TokenStream {
    let cfgs = element::cfgs(&result.attrs);
    let import = result.krate.import();
    let members = result.members.iter().map(|member| {
        let (new, from) = (
            constructor(&result.krate, member),
            from(&result.ident, member),
        );
        quote!(#new #from)
    });

    quote! {
        #(#cfgs)*
        #[allow(dead_code, deprecated, unreachable_pub, clippy::too_many_arguments)]
        const _: () = { #import #(#members)* };
    }
}

fn constructor(krate: &Crate, member: &Member) -> TokenStream {
    let ident = &member.ident;
    let names: Vec<&Ident> = member
        .fields
        .iter()
        .filter_map(|field| field.ident.as_ref())
        .collect();

    let types = member.fields.iter().map(|field| &field.ty);
    let text = quote!(impl ::core::convert::Into<::std::string::String>);
    let new = match member.side {
        Side::Success => quote! {
            /// A success; `status` is a word such as `created`.
            pub fn new(status: #text, #(#names: #types),*) -> Self {
                let (status, message, updated_fields, id) = #krate::success(status);
                Self { status, message, updated_fields, id, #(#names),* }
            }
        },
        Side::Error => quote! {
            /// An error; the code and the list follow from `status`, such as
            /// `conflict:email_taken`.
            pub fn new(status: #text, message: #text, #(#names: #types),*) -> Self {
                let (status, message, code, errors) = #krate::error(status, message);
                Self { status, message, code, errors, #(#names),* }
            }
        },
    };

    quote!(impl #ident { #new })
}

fn from(result: &Ident, member: &Member) -> TokenStream {
    let ty = &member.ident;
    let variant = Ident::new(member.side.name(), ty.span());
    quote! {
        #[automatically_derived]
        impl ::core::convert::From<#ty> for #result {
            fn from(member: #ty) -> Self { Self::#variant(member) }
        }
    }
}

/// The `ResultMeta`.
fn meta(result: &ResultUnion) -> TokenStream {
    let (krate, query) = (&result.krate, result.query);
    let members = result.members.iter().map(|member| {
        let (name, entity) = (&member.name, element::option(&member.entity()));
        quote!(#krate::ResultMember { name: #name, entity: #entity })
    });
    let [success, error] =
        <[TokenStream; 2]>::try_from(members.collect::<Vec<_>>()).unwrap_or_default();
    quote!(#krate::ResultMeta { success: #success, error: #error, query: #query })
}
