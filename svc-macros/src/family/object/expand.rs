//! The implementations of an object type.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Type, TypePath};

use super::joining::Joining;
use super::key_names::KeyNames;
use super::model::{Field, Object};
use crate::element;
use crate::name;
use crate::types;

/// The bodies of the methods of the implementations.
struct Bodies {
    items: TokenStream,
    meta: TokenStream,
    field: TokenStream,
    key: TokenStream,
    stored: TokenStream,
}

/// Everything.
pub(super) fn full(object: &Object) -> TokenStream {
    let bodies = Bodies {
        items: meta(object),
        meta: quote!(&__SVC_META),
        field: values(object),
        key: quote!(registry.object::<Self>(&__SVC_META)),
        stored: stored(object),
    };
    implementations(object, &bodies)
}

/// The value of each field.
fn values(object: &Object) -> TokenStream {
    let krate = &object.krate;
    let is_member = object
        .fields
        .iter()
        .any(|field| field.described_by.is_some());
    let values = object.fields.iter().enumerate().map(|(index, field)| {
        let (ident, (of, _, value)) = (&field.ident, methods(field));
        let ty = types::outside(&field.ty, Some(&object.ident));
        let place = if is_member {
            local(ident).to_token_stream()
        } else {
            quote!(&self.#ident)
        };
        match field.described_by {
            // svc has added this field, so its type cannot be a mistake of the program.
            Some(_) => quote!(#index => #krate::#of::#value(#place),),
            None => quote_spanned! {types::span(&field.ty)=>
                #index => <#ty as #krate::#of>::#value(#place),
            },
        }
    });

    // One pattern for all fields: if another type has the name of a result's member, this is
    // reported once.
    let pattern = is_member.then(|| {
        let fields = object.fields.iter().map(|field| &field.ident);
        let locals = object.fields.iter().map(|field| local(&field.ident));
        quote!(let Self { #(#fields: #locals,)* .. } = self;)
    });

    quote!(#pattern match index { #(#values)* _ => #krate::Resolved::Null })
}

/// The trait of a field's type, with its methods for the type and for the value.
fn methods(field: &Field) -> (Ident, Ident, Ident) {
    let [of, ty, value] = match field.relation {
        Some(_) => ["RelationType", "type_ref", "resolve"],
        None => ["FromStored", "field_type", "field_value"],
    };

    (
        format_ident!("{of}"),
        format_ident!("{ty}"),
        format_ident!("{value}"),
    )
}

/// Stub implementations, so that a mistake in the struct is the only error.
pub(super) fn stub(object: &Object) -> TokenStream {
    let none = quote!(::core::unreachable!());
    let [items, meta, field, key, stored] = [
        TokenStream::new(),
        none.clone(),
        none.clone(),
        none.clone(),
        none,
    ];

    implementations(
        object,
        &Bodies {
            items,
            meta,
            field,
            key,
            stored,
        },
    )
}

fn implementations(object: &Object, bodies: &Bodies) -> TokenStream {
    let Object { krate, cfgs, .. } = object;
    let (import, items) = (krate.import(), &bodies.items);
    let (own, derived) = (own_trait(object, bodies), derived_traits(object));

    quote! {
        #(#cfgs)*
        // A stub uses neither its imports nor its parameters, and only stored fields change
        // `fields`.
        #[allow(deprecated, unreachable_code, unused_imports, unused_mut, unused_variables)]
        const _: () = {
            #import
            #items
            #own
            #derived
        };
    }
}

/// The implementation of `Object`.
fn own_trait(object: &Object, bodies: &Bodies) -> TokenStream {
    let Object { krate, ident, .. } = object;
    let Bodies {
        meta,
        field,
        key,
        stored,
        ..
    } = bodies;

    let quiet = krate.quiet();
    let types::Parameters {
        declared,
        used,
        bounds,
    } = &object.parameters;

    quote! {
        #[automatically_derived]
        #quiet
        impl #declared #krate::Object for #ident #used #bounds {
            fn meta() -> &'static #krate::ObjectMeta { #meta }
            fn field(&self, index: ::core::primitive::usize) -> #krate::Resolved<'_> { #field }
            fn as_any(&self) -> &dyn ::core::any::Any { self }
            fn rust_type(&self) -> ::core::any::TypeId { ::core::any::TypeId::of::<Self>() }
            fn key(registry: &mut #krate::Registry) -> #krate::TypeKey { #key }
            fn read(value: #krate::ExactJson)
                -> ::core::result::Result<Self, #krate::StoredError> { #stored }
        }
    }
}

/// The implementations that only call the one of `Object`.
fn derived_traits(object: &Object) -> TokenStream {
    let Object {
        krate,
        ident,
        source,
        ..
    } = object;

    let (source, quiet) = (element::option(source), krate.quiet());
    let types::Parameters {
        declared,
        used,
        bounds,
    } = &object.parameters;

    quote! {
        #[automatically_derived]
        #quiet
        impl #declared #krate::Output for #ident #used #bounds {
            fn type_ref(registry: &mut #krate::Registry) -> #krate::TypeRef {
                #krate::TypeRef::named(<Self as #krate::Object>::key(registry))
            }
            fn resolve(&self) -> #krate::Resolved<'_> { #krate::Resolved::Object(self) }
        }

        #[automatically_derived]
        #quiet
        impl #declared #krate::FromStored for #ident #used #bounds {
            fn row_type() -> ::core::option::Option<::core::any::TypeId> {
                ::core::option::Option::Some(::core::any::TypeId::of::<Self>())
            }
            fn from_stored(
                value: #krate::ExactJson
            ) -> ::core::result::Result<Self, #krate::StoredError> {
                <Self as #krate::Object>::read(value)
            }
        }

        #[automatically_derived]
        #quiet
        impl #declared #krate::SvcType for #ident #used #bounds {
            const SOURCE: ::core::option::Option<&'static ::core::primitive::str> = #source;
            fn register(registry: &mut #krate::Registry) -> #krate::TypeKey {
                <Self as #krate::Object>::key(registry)
            }
        }
    }
}

fn meta(object: &Object) -> TokenStream {
    let Object {
        krate,
        ident,
        source,
        implements,
        authorize_fields,
        ..
    } = object;

    let (element, source) = (object.element.meta(krate), element::option(source));
    let (name, place) = (&object.element.rust, element::place(krate, ident));
    let fields = object.fields.iter().map(|field| field_meta(object, field));
    let implements = implements.iter().map(|interface| {
        // Located at the interface for messages, but resolved like the macro's own names.
        let span = Span::call_site().located_at(interface.span());
        quote_spanned!(span=> <#interface as #krate::InterfaceOf<#ident>>::interface)
    });

    // An inherent constant takes precedence over one of a trait, so a type without an `impl` block
    // has the empty list of `NoComputed`.
    quote! {
        use #krate::NoComputed as _;
        static __SVC_META: #krate::ObjectMeta = #krate::ObjectMeta {
            element: #element,
            path: ::core::concat!(::core::module_path!(), "::", #name),
            place: #place,
            source: #source,
            fields: &[#(#fields),*],
            computed: <#ident>::__SVC_COMPUTED_FIELDS_GO_INTO_ONE_IMPL,
            implements: &[#(#implements),*],
            authorize_fields: &[#(#authorize_fields),*],
        };
    }
}

fn field_meta(object: &Object, field: &Field) -> TokenStream {
    let krate = &object.krate;
    if let Some(constant) = &field.described_by {
        return quote!(#krate::#constant);
    }

    let (element, stored, ty) = (
        field.element.meta(krate),
        &field.stored,
        types::outside(&field.ty, Some(&object.ident)),
    );

    let (of, type_ref, _) = methods(field);
    let ty = quote_spanned!(types::span(&field.ty)=> <#ty as #krate::#of>::#type_ref);
    if field.relation.is_none() {
        return ruled(
            object,
            field,
            &quote!(#krate::FieldMeta::new(#element, #stored, #ty)),
        );
    }

    let (outside, from, to) = (
        types::outside(&field.ty, Some(&object.ident)),
        from(object, field),
        to(object, field),
    );

    let relation = quote_spanned! {types::span(&field.ty)=>
        #krate::RelationMeta {
            many: <#outside as #krate::RelationType>::MANY,
            row: <#outside as #krate::RelationType>::row,
            from: #from,
            to: #to,
            through: ::core::option::Option::None,
            joining: ::core::option::Option::None,
            order: &[],
            connection: ::core::option::Option::None,
            aggregate: ::core::option::Option::None,
        }
    };

    let order = field
        .relation
        .as_ref()
        .and_then(|args| args.order_by.as_ref());
    let order = order.map(|order| {
        let keys = order.tokens(krate);
        quote_spanned!(order.at.span()=> .ordered(#keys))
    });
    let through = through(object, field);
    let beside = beside(object, field);

    ruled(
        object,
        field,
        &quote! {
            #krate::FieldMeta::relation(
                #element, #stored, #ty, #relation #through #order #beside
            )
        },
    )
}

/// The page of the rows and the aggregates over them, where the relation offers them.
fn beside(object: &Object, field: &Field) -> TokenStream {
    let (krate, ty) = (
        &object.krate,
        types::outside(&field.ty, Some(&object.ident)),
    );
    let Some(args) = &field.relation else {
        return TokenStream::new();
    };

    let offered = [
        ("connection", &args.connection, quote!(Connection)),
        ("aggregate", &args.aggregate, quote!(Aggregate)),
    ];
    let offered = offered
        .into_iter()
        .filter_map(|(key, beside, of)| Some((key, beside.as_ref()?, of)));
    let offered = offered.map(|(key, beside, of)| {
        let (span, rust) = (beside.key.span(), format!("{}_{key}", field.ident.unraw()));
        let method = Ident::new(key, span);
        let element = field.element.beside(rust, beside.name.as_ref()).meta(krate);

        quote_spanned! {span=>
            .#method(#krate::DerivedMeta {
                element: #element,
                ty: <
                    #krate::#of<<#ty as #krate::RelationType>::Row> as #krate::PlannedReturn
                >::type_ref,
            })
        }
    });

    offered.collect()
}

/// The field with its line, its marks, its guards and its checks.
fn ruled(object: &Object, field: &Field, meta: &TokenStream) -> TokenStream {
    let Object { krate, ident, .. } = object;
    let line = element::line(&field.ident);
    let non_null = field.non_null.then(|| quote!(.non_null()));
    let guards = (!field.guards.is_empty())
        .then(|| field.guards.tokens(krate))
        .into_iter();
    let checks = (!field.checks.is_empty())
        .then(|| field.checks.tokens(krate, ident))
        .into_iter();

    quote!(#meta.at(#line) #non_null #(.guarded(#guards))* #(.checked(#checks))*)
}

/// The join view, if there is one.
fn through(object: &Object, field: &Field) -> Option<TokenStream> {
    let (krate, args) = (&object.krate, field.relation.as_ref()?);
    let (joining, here, there) = (
        args.through.as_ref()?,
        args.here.as_ref()?,
        args.there.as_ref()?,
    );

    let (here, there) = (here.tokens(), there.tokens());
    Some(match joining {
        Joining::View(source) => {
            let through = quote!(#krate::Through { source: #source, here: #here, there: #there });
            quote_spanned!(source.span()=> .through(#through))
        }
        Joining::Rows(path) => {
            let rows = Type::Path(TypePath {
                qself: None,
                path: path.clone(),
            });
            let rows = types::outside(&rows, Some(&object.ident));
            quote_spanned!(path.span()=> .joining::<#rows>(#here, #there))
        }
    })
}

/// The columns here: by default the field's name with `_id`, or `id` for a relation to many rows.
fn from(object: &Object, field: &Field) -> TokenStream {
    let name = field.ident.unraw().to_string();
    key(
        object,
        field,
        field.relation.as_ref().and_then(|args| args.from.as_ref()),
        ["id", &format!("{name}_id")],
    )
}

/// The columns there: by default `id`, or the struct's name with `_id` for a relation to many rows
/// that hold its key themselves.
fn to(object: &Object, field: &Field) -> TokenStream {
    let name = name::snake(&object.ident.unraw().to_string());
    let args = field.relation.as_ref();
    let is_joined = args.is_some_and(|args| args.through.is_some());
    let many = if is_joined {
        "id".to_owned()
    } else {
        format!("{name}_id")
    };

    key(
        object,
        field,
        args.and_then(|args| args.to.as_ref()),
        [&many, "id"],
    )
}

fn key(
    object: &Object,
    field: &Field,
    given: Option<&KeyNames>,
    [many, one]: [&str; 2],
) -> TokenStream {
    let (krate, ty) = (
        &object.krate,
        types::outside(&field.ty, Some(&object.ident)),
    );
    match given {
        Some(given) => given.tokens(),
        // Only rustc knows whether the type leads to many rows, so the generated constant chooses.
        None => quote_spanned! {types::span(&field.ty)=>
            if <#ty as #krate::RelationType>::MANY { &[#many] } else { &[#one] }
        },
    }
}

fn stored(object: &Object) -> TokenStream {
    let Object { krate, skipped, .. } = object;

    // A key may be a field as well, so relations are read before the field is taken.
    let relations = object
        .fields
        .iter()
        .filter(|field| field.relation.is_some())
        .map(|field| {
            let (local, from) = (local(&field.ident), from(object, field));
            let ty = types::outside(&field.ty, Some(&object.ident));

            quote_spanned! {types::span(&field.ty)=>
                let #local = <#ty as #krate::RelationType>::read(&fields, #from);
            }
        });

    let fields = object.fields.iter().map(|field| {
        let (ident, stored) = (&field.ident, &field.stored);
        let ty = types::outside(&field.ty, Some(&object.ident));

        if field.relation.is_some() {
            let local = local(ident);
            return quote!(#ident: #local,);
        }
        if field.described_by.is_some() {
            return quote!(#ident: fields.take(#stored)?,);
        }
        quote_spanned! {types::span(&field.ty)=>
            #ident: <#ty as #krate::FromStored>::take_field(&mut fields, #stored)?,
        }
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

/// A name for a field's value, distinct from all other locals.
fn local(field: &Ident) -> Ident {
    format_ident!("__svc_{}", field.unraw())
}
