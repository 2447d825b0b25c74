//! The implementations of an enum.

use proc_macro2::TokenStream;
use quote::quote;

use super::model::{Enumeration, Value};
use crate::krate::Crate;
use crate::types;

/// The bodies of the methods of the implementations.
struct Bodies {
    items: TokenStream,
    type_ref: TokenStream,
    resolve: TokenStream,
    parse: TokenStream,
    stored: TokenStream,
}

/// Everything.
pub(super) fn full(model: &Enumeration) -> TokenStream {
    let Enumeration { krate, values, .. } = model;
    let idents: Vec<_> = values.iter().map(|value| &value.ident).collect();
    let names: Vec<_> = values.iter().map(|value| value.element.graphql()).collect();
    let stored: Vec<_> = values.iter().map(|value| &value.stored).collect();
    let (some_name, some_stored) = (one_of(&names), one_of(&stored));
    let bodies = Bodies {
        items: meta(model),
        type_ref: quote!(registry.enumeration::<Self>(&__SVC_META)),
        resolve: quote!(#krate::Resolved::Enum(match self { #(Self::#idents => #names,)* })),
        // A literal has an enum value; the JSON of variables has a string instead.
        parse: quote! {
            let name = match &value {
                ::core::option::Option::Some(#krate::async_graphql::Value::Enum(name)) =>
                    name.as_str(),
                ::core::option::Option::Some(#krate::async_graphql::Value::String(name)) =>
                    name.as_str(),
                // No variant has an empty name, so another kind of value is reported like an
                // unknown name.
                _ => "",
            };
            ::core::result::Result::Ok(match name {
                #(#names => Self::#idents,)*
                _ => return ::core::result::Result::Err(
                    #krate::InputError::expected(#some_name, value.as_ref())
                ),
            })
        },
        stored: quote! {
            ::core::result::Result::Ok(match value.as_str() {
                #(::core::option::Option::Some(#stored) => Self::#idents,)*
                _ => return ::core::result::Result::Err(
                    #krate::StoredError::new(#some_stored, &value)
                ),
            })
        },
    };

    implementations(model, &bodies)
}

/// Stub implementations, so that a mistake in the enum is the only error.
pub(super) fn stub(model: &Enumeration) -> TokenStream {
    let none = quote!(::core::unreachable!());
    let [type_ref, resolve, parse, stored] = [none.clone(), none.clone(), none.clone(), none];
    implementations(
        model,
        &Bodies {
            items: TokenStream::new(),
            type_ref,
            resolve,
            parse,
            stored,
        },
    )
}

fn implementations(model: &Enumeration, bodies: &Bodies) -> TokenStream {
    let Enumeration {
        krate, ident, cfgs, ..
    } = model;
    let Bodies {
        items,
        type_ref,
        resolve,
        parse,
        stored,
    } = bodies;

    let import = krate.import();
    let types::Parameters {
        declared,
        used,
        bounds,
    } = &model.parameters;

    quote! {
        #(#cfgs)*
        #[allow(deprecated)]
        const _: () = {
            #import
            #items
            #[automatically_derived]
            impl #declared #krate::Output for #ident #used #bounds {
                fn type_ref(registry: &mut #krate::Registry) -> #krate::TypeRef { #type_ref }
                fn resolve(&self) -> #krate::Resolved<'_> { #resolve }
            }
            #[automatically_derived]
            impl #declared #krate::Input for #ident #used #bounds {
                fn type_ref(registry: &mut #krate::Registry) -> #krate::TypeRef { #type_ref }
                fn parse(
                    value: ::core::option::Option<#krate::async_graphql::Value>,
                ) -> ::core::result::Result<Self, #krate::InputError> { #parse }
            }

            #[automatically_derived]
            impl #declared #krate::FromStored for #ident #used #bounds {
                fn from_stored(
                    value: #krate::ExactJson
                ) -> ::core::result::Result<Self, #krate::StoredError> {
                    #stored
                }
            }
        };
    }
}

fn meta(model: &Enumeration) -> TokenStream {
    let Enumeration {
        krate,
        element,
        values,
        ..
    } = model;

    let (name, element) = (&element.rust, element.meta(krate));
    let values = values.iter().map(|value| value_meta(krate, value));
    quote! {
        static __SVC_META: #krate::EnumMeta = #krate::EnumMeta {
            element: #element,
            path: ::core::concat!(::core::module_path!(), "::", #name),
            values: &[#(#values),*],
        };
    }
}

fn value_meta(krate: &Crate, value: &Value) -> TokenStream {
    let (element, stored) = (value.element.meta(krate), &value.stored);
    quote! { #krate::EnumValueMeta { element: #element, stored: #stored } }
}

fn one_of<T: std::fmt::Display>(texts: &[T]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
    match texts.as_slice() {
        [only] => only.clone(),
        texts => format!("one of {}", texts.join(", ")),
    }
}
