//! The implementations of an interface or union.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::model::{AbstractType, Member, Promised};
use crate::element;
use crate::krate::Crate;
use crate::types;

/// The bodies of the methods of the implementations.
struct Bodies {
    items: TokenStream,
    resolve: TokenStream,
    stored: TokenStream,
    key: TokenStream,
}

/// Everything.
pub(super) fn full(model: &AbstractType) -> TokenStream {
    let krate = &model.krate;

    // One trait is named for the whole type, so that rustc reports a member without it only once.
    let values = model.members.iter().map(|Member { ident, ty }| {
        quote_spanned! {types::span(ty)=>
            Self::#ident(value) => #krate::Resolved::Object(
                <#ty as #krate::Object>::as_object(value)
            ),
        }
    });

    let bodies = Bodies {
        items: meta(model),
        resolve: quote!(match self { #(#values)* }),
        stored: stored(model),
        key: quote!(registry.abstract_type::<Self>(&__SVC_META)),
    };

    implementations(model, &bodies)
}

/// Stub implementations, so that a mistake in the enum is the only error.
pub(super) fn stub(model: &AbstractType) -> TokenStream {
    let none = quote!(::core::unreachable!());
    let [resolve, stored, key] = [none.clone(), none.clone(), none];
    implementations(
        model,
        &Bodies {
            items: TokenStream::new(),
            resolve,
            stored,
            key,
        },
    )
}

fn implementations(model: &AbstractType, bodies: &Bodies) -> TokenStream {
    let AbstractType {
        krate,
        ident,
        cfgs,
        source,
        ..
    } = model;

    let Bodies {
        items,
        resolve,
        stored,
        key,
    } = bodies;

    let (source, import) = (element::option(source), krate.import());
    let result = result_constant(model);
    let of_members: TokenStream = interface_of(model).collect();
    let types::Parameters {
        declared,
        used,
        bounds,
    } = &model.parameters;

    quote! {
        #(#cfgs)*
        // The `unreachable!()` of a stub makes the code around it unreachable.
        #[allow(deprecated, unreachable_code)]
        const _: () = {
            #import
            #items
            #[automatically_derived]
            impl #declared #krate::Output for #ident #used #bounds {
                fn type_ref(registry: &mut #krate::Registry) -> #krate::TypeRef {
                    #krate::TypeRef::named(#key)
                }
                fn resolve(&self) -> #krate::Resolved<'_> { #resolve }
            }
            #[automatically_derived]
            impl #declared #krate::FromStored for #ident #used #bounds {
                fn row_type() -> ::core::option::Option<::core::any::TypeId> {
                    ::core::option::Option::Some(::core::any::TypeId::of::<Self>())
                }
                fn from_stored(
                    value: #krate::ExactJson
                ) -> ::core::result::Result<Self, #krate::StoredError> {
                    #stored
                }
            }

            #[automatically_derived]
            impl #declared #krate::SvcType for #ident #used #bounds {
                const SOURCE: ::core::option::Option<&'static ::core::primitive::str> = #source;
                #result
                fn register(registry: &mut #krate::Registry) -> #krate::TypeKey { #key }
            }

            #of_members
        };
    }
}

/// The description of the members, if this is a mutation's result.
fn result_constant(model: &AbstractType) -> Option<TokenStream> {
    let (krate, meta) = (&model.krate, model.result.as_ref()?);

    Some(quote! {
        const RESULT: ::core::option::Option<&'static #krate::ResultMeta> =
            ::core::option::Option::Some(&#meta);
    })
}

/// Implements `InterfaceOf` for each member of an interface.
fn interface_of(model: &AbstractType) -> impl Iterator<Item = TokenStream> {
    let AbstractType {
        krate,
        ident,
        promises,
        members,
        ..
    } = model;

    let members = members.iter().filter(|_| promises.is_some());
    members.map(move |Member { ty, .. }| {
        quote_spanned! {types::span(ty)=>
            #[automatically_derived]
            impl #krate::InterfaceOf<#ty> for #ident {}
        }
    })
}

fn meta(model: &AbstractType) -> TokenStream {
    let AbstractType {
        krate,
        ident,
        element,
        source,
        promises,
        members,
        ..
    } = model;

    let (name, place) = (&element.rust, element::place(krate, ident));
    let (element, source) = (element.meta(krate), element::option(source));
    let interface = promises.as_ref().map(|promises| {
        let fields = promises.iter().map(|field| promise_meta(krate, field));
        quote!(&[#(#fields),*])
    });
    let interface = element::option(&interface);
    let members = members
        .iter()
        .map(|Member { ty, .. }| quote_spanned!(types::span(ty)=> <#ty as #krate::Object>::key));

    quote! {
        static __SVC_META: #krate::AbstractMeta = #krate::AbstractMeta {
            element: #element,
            path: ::core::concat!(::core::module_path!(), "::", #name),
            place: #place,
            source: #source,
            interface: #interface,
            members: &[#(#members),*],
        };
    }
}

fn promise_meta(krate: &Crate, field: &Promised) -> TokenStream {
    let (element, ty) = (field.element.meta(krate), types::outside(&field.ty, None));
    let ty = quote_spanned!(types::span(&field.ty)=> <#ty as #krate::Output>::type_ref);
    quote! { #krate::InterfaceFieldMeta { element: #element, ty: #ty, args: &[] } }
}

fn stored(model: &AbstractType) -> TokenStream {
    let krate = &model.krate;
    if let (Some(_), [success, error]) = (&model.result, model.members.as_slice()) {
        let (success, error) = (&success.ty, &error.ty);
        return quote!(#krate::read_result::<#success, #error, Self>(value));
    }

    let expected = format!("one of the members of `{}`", model.element.graphql());
    let members = model.members.iter().map(|Member { ident, ty }| {
        quote_spanned! {types::span(ty)=>
            if <#ty as #krate::Object>::is_named(name) {
                return <#ty as #krate::Object>::read(value).map(Self::#ident);
            }
        }
    });

    quote! {
        let name = #krate::StoredFields::type_name(&value)?;
        #(#members)*
        ::core::result::Result::Err(#krate::StoredError::new(#expected, &value))
    }
}
