//! The implementations of an object type.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::LitStr;
use syn::ext::IdentExt as _;

use super::model::{Field, Object};
use crate::element;
use crate::name;
use crate::types;

/// What each method of the implementations does.
struct Bodies {
    items: TokenStream,
    meta: TokenStream,
    field: TokenStream,
    key: TokenStream,
    stored: TokenStream,
}

/// Everything.
pub(super) fn full(object: &Object) -> TokenStream {
    let values = object.fields.iter().enumerate().map(|(index, field)| {
        let (ident, krate, ty) = (&field.ident, &object.krate, types::outside(&field.ty, Some(&object.ident)));
        if field.described_by.is_some() {
            return quote!(#index => #krate::FromStored::field_value(&self.#ident),);
        }
        let value = if field.relation.is_some() {
            quote!(RelationType > ::resolve)
        } else {
            quote!(FromStored > ::field_value)
        };
        quote_spanned!(types::span(&field.ty)=> #index => <#ty as #krate::#value(&self.#ident),)
    });
    let krate = &object.krate;
    let bodies = Bodies {
        items: meta(object),
        meta: quote!(&__SVC_META),
        field: quote!(match index { #(#values)* _ => #krate::Resolved::Null }),
        key: quote!(registry.object::<Self>(&__SVC_META)),
        stored: stored(object),
    };
    implementations(object, &bodies)
}

/// Implementations that only exist, so that a mistake in the struct is the only message.
pub(super) fn stub(object: &Object) -> TokenStream {
    let none = quote!(::core::unreachable!());
    let [items, meta, field, key, stored] = [TokenStream::new(), none.clone(), none.clone(), none.clone(), none];
    implementations(object, &Bodies { items, meta, field, key, stored })
}

fn implementations(object: &Object, bodies: &Bodies) -> TokenStream {
    let Object { krate, ident, cfgs, source, .. } = object;
    let Bodies { items, meta, field, key, stored } = bodies;
    let (source, quiet, import) = (element::option(source), krate.quiet(), krate.import());
    quote! {
        #(#cfgs)*
        #[allow(deprecated, unused_imports, unused_mut, unused_variables)]
        const _: () = {
            #import
            #items
            #[automatically_derived]
            #quiet
            impl #krate::Object for #ident {
                fn meta() -> &'static #krate::ObjectMeta { #meta }
                fn field(&self, index: ::core::primitive::usize) -> #krate::Resolved<'_> { #field }
                fn as_any(&self) -> &dyn ::core::any::Any { self }
                fn rust_type(&self) -> ::core::any::TypeId { ::core::any::TypeId::of::<Self>() }
                fn key(registry: &mut #krate::Registry) -> #krate::TypeKey { #key }
                fn read(value: #krate::ExactJson) -> ::core::result::Result<Self, #krate::StoredError> { #stored }
            }
            #[automatically_derived]
            #quiet
            impl #krate::Output for #ident {
                fn type_ref(registry: &mut #krate::Registry) -> #krate::TypeRef {
                    #krate::TypeRef::named(<Self as #krate::Object>::key(registry))
                }
                fn resolve(&self) -> #krate::Resolved<'_> { #krate::Resolved::Object(self) }
            }
            #[automatically_derived]
            #quiet
            impl #krate::FromStored for #ident {
                fn row_type() -> ::core::option::Option<::core::any::TypeId> {
                    ::core::option::Option::Some(::core::any::TypeId::of::<Self>())
                }
                fn from_stored(value: #krate::ExactJson) -> ::core::result::Result<Self, #krate::StoredError> {
                    <Self as #krate::Object>::read(value)
                }
            }
            #[automatically_derived]
            #quiet
            impl #krate::SvcType for #ident {
                const SOURCE: ::core::option::Option<&'static ::core::primitive::str> = #source;
                fn register(registry: &mut #krate::Registry) -> #krate::TypeKey {
                    <Self as #krate::Object>::key(registry)
                }
            }
        };
    }
}

fn meta(object: &Object) -> TokenStream {
    let Object { krate, ident, source, implements, authorize_fields, .. } = object;
    let (element, source) = (object.element.meta(krate), element::option(source));
    let name = &object.element.rust;
    let fields = object.fields.iter().map(|field| field_meta(object, field));
    quote! {
        use #krate::NoComputed as _;
        static __SVC_META: #krate::ObjectMeta = #krate::ObjectMeta {
            element: #element,
            path: ::core::concat!(::core::module_path!(), "::", #name),
            source: #source,
            fields: &[#(#fields),*],
            computed: <#ident>::__SVC_COMPUTED_FIELDS_GO_INTO_ONE_IMPL,
            implements: &[#(<#implements as #krate::SvcType>::register),*],
            authorize_fields: &[#(#authorize_fields),*],
        };
    }
}

fn field_meta(object: &Object, field: &Field) -> TokenStream {
    let krate = &object.krate;
    if let Some(constant) = &field.described_by {
        return quote!(#krate::#constant);
    }
    let (element, stored, ty) =
        (field.element.meta(krate), &field.stored, types::outside(&field.ty, Some(&object.ident)));
    let type_ref =
        if field.relation.is_some() { quote!(RelationType > ::type_ref) } else { quote!(FromStored > ::field_type) };
    let ty = quote_spanned!(types::span(&field.ty)=> <#ty as #krate::#type_ref);
    if field.relation.is_none() {
        return quote!(#krate::FieldMeta::new(#element, #stored, #ty));
    }
    let (outside, from, to) = (types::outside(&field.ty, Some(&object.ident)), from(object, field), to(object, field));
    let relation = quote_spanned! {types::span(&field.ty)=>
        #krate::RelationMeta {
            many: <#outside as #krate::RelationType>::MANY,
            row: <#outside as #krate::RelationType>::row,
            from: #from,
            to: #to,
        }
    };
    quote!(#krate::FieldMeta::relation(#element, #stored, #ty, #relation))
}

/// The column here: by convention the field's name and `_id`, or `id` where the relation leads to many rows.
fn from(object: &Object, field: &Field) -> TokenStream {
    let name = field.ident.unraw().to_string();
    key(object, field, field.relation.as_ref().and_then(|args| args.from.as_ref()), ["id", &format!("{name}_id")])
}

/// The column there: by convention `id`, or the struct's name and `_id` where the relation leads to many rows.
fn to(object: &Object, field: &Field) -> TokenStream {
    let name = name::snake(&object.ident.unraw().to_string());
    key(object, field, field.relation.as_ref().and_then(|args| args.to.as_ref()), [&format!("{name}_id"), "id"])
}

fn key(object: &Object, field: &Field, given: Option<&LitStr>, [many, one]: [&str; 2]) -> TokenStream {
    let (krate, ty) = (&object.krate, types::outside(&field.ty, Some(&object.ident)));
    match given {
        Some(given) => quote!(#given),
        None => quote_spanned! {types::span(&field.ty)=>
            if <#ty as #krate::RelationType>::MANY { #many } else { #one }
        },
    }
}

fn stored(object: &Object) -> TokenStream {
    let Object { krate, skipped, .. } = object;
    // A key may be a field as well, so relations are read while it is still there.
    let relations = object.fields.iter().filter(|field| field.relation.is_some()).map(|field| {
        let (ident, from, ty) = (&field.ident, from(object, field), types::outside(&field.ty, Some(&object.ident)));
        let local = local(ident);
        quote_spanned!(types::span(&field.ty)=> let #local = <#ty as #krate::RelationType>::read(&fields, #from);)
    });
    let fields = object.fields.iter().map(|field| {
        let (ident, stored, ty) = (&field.ident, &field.stored, types::outside(&field.ty, Some(&object.ident)));
        if field.relation.is_some() {
            let local = local(ident);
            return quote!(#ident: #local,);
        }
        if field.described_by.is_some() {
            return quote!(#ident: fields.take(#stored)?,);
        }
        quote_spanned!(types::span(&field.ty)=> #ident: <#ty as #krate::FromStored>::take_field(&mut fields, #stored)?,)
    });
    let skipped = skipped.iter().map(|(ident, ty)| {
        let (span, ty) = (types::span(ty), types::outside(ty, Some(&object.ident)));
        quote_spanned!(span=> #ident: <#ty as ::core::default::Default>::default(),)
    });
    quote! {
        let mut fields = #krate::StoredFields::new(value)?;
        #(#relations)*
        ::core::result::Result::Ok(Self {
            #(#fields)*
            #(#skipped)*
        })
    }
}

/// A name for a field's value that no other local has.
fn local(field: &Ident) -> Ident {
    format_ident!("__svc_{}", field.unraw())
}
