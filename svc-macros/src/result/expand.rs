//! The three types that stand for the result.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote};
use syn::Attribute;

use super::model::{Member, ResultUnion, Side};
use crate::errors::Errors;
use crate::{abstraction, element, object};

/// Everything; after a mistake, types whose implementations only exist.
pub(super) fn full(result: ResultUnion, errors: &mut Errors) -> TokenStream {
    let members: TokenStream = result.members.iter().map(|each| member(&result, each, errors)).collect();
    let from: TokenStream = result.members.iter().map(|each| from(&result, each)).collect();
    let ResultUnion { attrs, vis, ident, .. } = &result;
    let variants = result.members.iter().map(|Member { side, ident, attrs, .. }| {
        let (variant, docs) = (Ident::new(side.name(), ident.span()), attrs.iter().filter(is("doc")));
        let default =
            attrs.iter().all(|attr| !attr.path().is_ident("doc")).then(|| quote!(#[doc = "What it came to."]));
        quote!(#(#docs)* #default #variant(#ident))
    });
    let item = quote!(#(#attrs)* #[allow(clippy::large_enum_variant)] #vis enum #ident { #(#variants),* });
    let meta = meta(&result);
    let union = abstraction::result(result.name, result.krate, item, meta, errors);
    quote!(#members #union #from)
}

fn is(name: &str) -> impl Fn(&&Attribute) -> bool {
    move |attr| attr.path().is_ident(name)
}

/// The struct of a member, an object type.
fn member(result: &ResultUnion, member: &Member, errors: &mut Errors) -> TokenStream {
    let ResultUnion { krate, attrs, vis, .. } = result;
    let Member { ident, name, fields, .. } = member;
    let shared = attrs.iter().filter(|attr| !is("doc")(attr) && !is("deprecated")(attr));
    let own = member.attrs.iter();
    let undocumented = !member.attrs.iter().any(|attr| is("doc")(&attr));
    let doc = undocumented.then(|| match member.side {
        Side::Success => quote!(#[doc = "The mutation did what it was asked to."]),
        Side::Error => quote!(#[doc = "The mutation changed nothing."]),
    });
    let automatic = automatic(result, member.side);
    let item = quote! {
        #(#shared)* #(#own)* #doc
        #vis struct #ident { #automatic #(#fields),* }
    };
    let name = name.as_ref().map(|name| quote!(name = #name,));
    let krate = krate.key();
    let object = object::expand(quote!(#name #krate), item, errors);
    let new = constructor(result, member);
    quote!(#object #new)
}

/// The fields that every member of this side has. Those of one name have one type, so that clients can ask both members
/// for them without an alias.
fn automatic(result: &ResultUnion, side: Side) -> TokenStream {
    let krate = &result.krate;
    let [text, option] = [quote!(::std::string::String), quote!(::core::option::Option)];
    match side {
        Side::Success => quote! {
            #[doc = "What happened, such as `created`."]
            pub status: #text,
            #[doc = "A sentence for people."]
            pub message: #option<#text>,
            #[doc = "The fields that changed, where the function tells."]
            pub updated_fields: #option<::std::vec::Vec<#text>>,
            #[doc = "The id of what was written."]
            pub id: #option<#krate::async_graphql::ID>,
        },
        Side::Error => quote! {
            #[doc = "What went wrong, such as `conflict:email_taken`."]
            pub status: #text,
            #[doc = "A sentence for people; an error always has one."]
            pub message: #option<#text>,
            #[doc = "The kind of error, as an HTTP status: 422, 401, 403, 404, 409, 408 or 500."]
            pub code: ::core::primitive::i32,
            #[doc = "Each thing that is wrong."]
            pub errors: ::std::vec::Vec<#krate::MutationError>,
        },
    }
}

/// `new`, for mutations with a body.
fn constructor(result: &ResultUnion, member: &Member) -> TokenStream {
    let (krate, ident) = (&result.krate, &member.ident);
    let cfgs = element::cfgs(&result.attrs);
    let names: Vec<&Ident> = member.fields.iter().filter_map(|field| field.ident.as_ref()).collect();
    let types = member.fields.iter().map(|field| field.ty.to_token_stream());
    let text = quote!(impl ::core::convert::Into<::std::string::String>);
    let (doc, params, body) = match member.side {
        Side::Success => (
            "A success; `status` is a word such as `created`.",
            quote!(status: #text,),
            quote! {
                Self {
                    status: ::core::convert::Into::into(status),
                    message: ::core::option::Option::None,
                    updated_fields: ::core::option::Option::None,
                    id: ::core::option::Option::None,
                    #(#names),*
                }
            },
        ),
        Side::Error => (
            "An error; the code and the list follow from `status`, such as `conflict:email_taken`.",
            quote!(status: #text, message: #text,),
            quote! {
                let (status, message) = (::core::convert::Into::into(status), ::core::convert::Into::into(message));
                let (code, errors) = #krate::MutationError::of_status(&status, &message);
                Self { status, message: ::core::option::Option::Some(message), code, errors, #(#names),* }
            },
        ),
    };
    quote! {
        #(#cfgs)*
        #[allow(dead_code, unreachable_pub, clippy::too_many_arguments)]
        impl #ident {
            #[doc = #doc]
            pub fn new(#params #(#names: #types),*) -> Self { #body }
        }
    }
}

fn from(result: &ResultUnion, member: &Member) -> TokenStream {
    let (ident, ty) = (&result.ident, &member.ident);
    let variant = Ident::new(member.side.name(), ty.span());
    let cfgs = element::cfgs(&result.attrs);
    quote! {
        #(#cfgs)*
        #[automatically_derived]
        impl ::core::convert::From<#ty> for #ident {
            fn from(member: #ty) -> Self { Self::#variant(member) }
        }
    }
}

/// The `ResultMeta`.
fn meta(result: &ResultUnion) -> TokenStream {
    let krate = &result.krate;
    let members = result.members.iter().map(|member| {
        let name = member.name.as_ref().map_or_else(|| member.ident.to_string(), syn::LitStr::value);
        let entity = element::option(&member.entity());
        quote!(#krate::ResultMember { name: #name, entity: #entity })
    });
    let [success, error] = <[TokenStream; 2]>::try_from(members.collect::<Vec<_>>()).unwrap_or_default();
    quote!(#krate::ResultMeta { success: #success, error: #error })
}
