//! The implementation of an input object.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::model::{Field, InputObject};
use crate::types;

/// Everything.
pub(super) fn full(input: &InputObject) -> TokenStream {
    let parse = if input.one_of {
        parse_one(input)
    } else {
        parse_all(input)
    };

    implementation(
        input,
        &meta(input),
        &quote!(registry.input::<Self>(&__SVC_META)),
        &parse,
    )
}

/// A stub implementation, so that a mistake in the item is the only error.
pub(super) fn stub(input: &InputObject) -> TokenStream {
    let none = quote!(::core::unreachable!());
    implementation(input, &TokenStream::new(), &none, &none)
}

fn implementation(
    input: &InputObject,
    items: &TokenStream,
    type_ref: &TokenStream,
    parse: &TokenStream,
) -> TokenStream {
    let InputObject {
        krate, ident, cfgs, ..
    } = input;
    let (
        import,
        types::Parameters {
            declared,
            used,
            bounds,
        },
    ) = (krate.import(), &input.parameters);

    quote! {
        #(#cfgs)*
        #[allow(deprecated)]
        const _: () = {
            #import
            #items
            #[automatically_derived]
            impl #declared #krate::Input for #ident #used #bounds {
                fn type_ref(registry: &mut #krate::Registry) -> #krate::TypeRef { #type_ref }
                fn parse(
                    value: ::core::option::Option<#krate::async_graphql::Value>,
                ) -> ::core::result::Result<Self, #krate::InputError> { #parse }
            }
        };
    }
}

fn meta(input: &InputObject) -> TokenStream {
    let InputObject {
        krate,
        ident,
        element,
        one_of,
        ..
    } = input;

    let (name, element) = (&element.rust, element.meta(krate));
    let fields = input.fields.iter().map(|Field { argument, .. }| {
        let ty = argument.type_ref(krate, Some(ident));
        // The specification requires the fields of a `@oneOf` type to be nullable.
        let ty = if *one_of {
            quote!(|registry| #krate::TypeRef::nullable(#ty(registry)))
        } else {
            ty
        };
        argument.meta(krate, &ty, Some(ident))
    });

    quote! {
        static __SVC_META: #krate::InputMeta = #krate::InputMeta {
            element: #element,
            path: ::core::concat!(::core::module_path!(), "::", #name),
            fields: &[#(#fields),*],
            one_of: #one_of,
        };
    }
}

fn parse_all(input: &InputObject) -> TokenStream {
    let krate = &input.krate;
    let fields = input.fields.iter().map(|Field { ident, .. }| ident);
    let values = input.fields.iter().map(|field| take(input, field));
    quote! {
        let mut fields = #krate::InputFields::new(value)?;
        ::core::result::Result::Ok(Self { #(#fields: #values,)* })
    }
}

fn parse_one(input: &InputObject) -> TokenStream {
    let krate = &input.krate;
    let names = input
        .fields
        .iter()
        .map(|field| &field.argument.element.rust);
    let variants = input.fields.iter().map(|field| &field.ident);
    let values = input.fields.iter().map(|field| take(input, field));

    quote! {
        let mut fields = #krate::InputFields::new(value)?;
        ::core::result::Result::Ok(match fields.only()?.as_str() {
            #(#names => Self::#variants(#values),)*
            _ => return ::core::result::Result::Err(
                #krate::InputError::new("expected exactly one field")
            ),
        })
    }
}

fn take(input: &InputObject, field: &Field) -> TokenStream {
    let (krate, rust) = (&input.krate, &field.argument.element.rust);
    let ty = types::outside(&field.argument.ty, Some(&input.ident));
    let take = if field.argument.allow_blank {
        quote!(take)
    } else {
        quote!(take_filled)
    };

    // Naming `Input` in the same way as the description makes rustc report a type without it only
    // once.
    quote_spanned!(types::span(&field.argument.ty)=> {
        let _ = <#ty as #krate::Input>::type_ref;
        #krate::InputFields::#take::<#ty>(&mut fields, #rust)?
    })
}
