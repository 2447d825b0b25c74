//! The implementations of a scalar.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse_quote;

use super::model::Scalar;
use super::parse::Block;
use crate::{element, types};

/// Everything.
pub(super) fn full(scalar: &Scalar) -> TokenStream {
    let Scalar {
        krate,
        element,
        specified_by,
        sql_type,
        ..
    } = scalar;

    let (name, specified_by) = (element.graphql(), element::option(specified_by));
    let element = element.meta(krate);

    // An inline constant: a static would not have the bounds of the implementation.
    let meta = quote! {
        const {
            &#krate::ScalarMeta {
                name: #name,
                description: #element.description,
                specified_by: #specified_by,
                kind: #krate::ScalarKind::Custom(#krate::CustomScalar {
                    recode: #krate::recode_scalar::<__Scalar>,
                    sql_type: #sql_type,
                }),
            }
        }
    };

    implementations(scalar, &quote!(registry.scalar(#meta)))
}

/// Stub implementations, so that a mistake in the attribute is the only error.
pub(super) fn stub(scalar: &Scalar) -> TokenStream {
    implementations(scalar, &quote!(::core::unreachable!()))
}

fn implementations(scalar: &Scalar, type_ref: &TokenStream) -> TokenStream {
    let Scalar {
        krate, ty, cfgs, ..
    } = scalar;
    let bounds = thread_safe();
    let (input_type, import) = (input_type(scalar), krate.import());
    let check = quote_spanned!(types::span(ty)=> #krate::check_scalar::<#ty>(););

    quote! {
        #(#cfgs)*
        #[allow(deprecated)]
        const _: () = {
            #import
            type __Scalar = #ty;

            #input_type
            #[automatically_derived]
            impl #krate::Input for __Scalar #bounds {
                fn type_ref(registry: &mut #krate::Registry) -> #krate::TypeRef {
                    <Self as #krate::Output>::type_ref(registry)
                }
                fn parse(
                    value: ::core::option::Option<#krate::async_graphql::Value>,
                ) -> ::core::result::Result<Self, #krate::InputError> {
                    #krate::parse_scalar(value)
                }
            }

            #[automatically_derived]
            impl #krate::Output for __Scalar #bounds {
                fn type_ref(registry: &mut #krate::Registry) -> #krate::TypeRef { #type_ref }
                fn resolve(&self) -> #krate::Resolved<'_> { #krate::Resolved::Scalar(self) }
            }
            #[automatically_derived]
            impl #krate::WriteScalar for __Scalar #bounds {
                fn write(
                    &self,
                    out: &mut ::std::vec::Vec<::core::primitive::u8>,
                ) -> ::core::result::Result<(), ::std::string::String> {
                    #krate::write_scalar(self, out)
                }
            }

            #[automatically_derived]
            impl #krate::FromStored for __Scalar #bounds {
                fn from_stored(
                    value: #krate::ExactJson
                ) -> ::core::result::Result<Self, #krate::StoredError> {
                    #krate::stored_scalar(value)
                }
            }

            #check
        };
    }
}

/// The user's block, with the bounds of the other implementations, which its body relies on.
pub(super) fn block(block: Block) -> TokenStream {
    let Block {
        attrs,
        mut generics,
        of,
        ty,
        body,
    } = block;

    generics
        .make_where_clause()
        .predicates
        .push(parse_quote!(for<'__svc> #ty: ::core::marker::Send + ::core::marker::Sync));
    let bounds = &generics.where_clause;
    quote!(#(#attrs)* impl #generics #of for #ty #bounds #body)
}

/// The bounds of every implementation. With a lifetime, rustc checks them at the uses of the
/// implementation, so that a type that is not thread-safe is reported once, by `check_scalar`, and
/// not for each of the traits.
fn thread_safe() -> TokenStream {
    quote!(where for<'__svc> __Scalar: ::core::marker::Send + ::core::marker::Sync)
}

/// async-graphql's errors require its own trait.
fn input_type(scalar: &Scalar) -> TokenStream {
    let (krate, bounds) = (&scalar.krate, thread_safe());
    let name = scalar.element.graphql();
    quote! {
        #[automatically_derived]
        impl #krate::async_graphql::InputType for __Scalar #bounds {
            type RawValueType = Self;
            fn type_name() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                ::std::borrow::Cow::Borrowed(#name)
            }
            fn create_type_info(
                _: &mut #krate::async_graphql::registry::Registry
            ) -> ::std::string::String {
                <Self as #krate::async_graphql::InputType>::qualified_type_name()
            }
            fn parse(
                value: ::core::option::Option<#krate::async_graphql::Value>,
            ) -> #krate::async_graphql::InputValueResult<Self> {
                <Self as #krate::async_graphql::ScalarType>::parse(value.unwrap_or_default())
            }

            fn to_value(&self) -> #krate::async_graphql::Value {
                <Self as #krate::async_graphql::ScalarType>::to_value(self)
            }

            fn as_raw_value(&self) -> ::core::option::Option<&Self::RawValueType> {
                ::core::option::Option::Some(self)
            }
        }
    }
}
