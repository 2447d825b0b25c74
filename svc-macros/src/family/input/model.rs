//! A struct or enum that clients can send.

use proc_macro2::Ident;
use syn::ext::IdentExt as _;
use syn::{Attribute, Fields, Generics, ItemEnum, ItemStruct, Variant};

use super::parse::Args;
use crate::argument::Argument;
use crate::element::{self, Element};
use crate::errors::Errors;
use crate::krate::Crate;
use crate::{name, types};

/// An input object.
pub(super) struct InputObject {
    pub(super) krate: Crate,
    pub(super) ident: Ident,
    pub(super) cfgs: Vec<Attribute>,
    pub(super) parameters: types::Parameters,
    pub(super) element: Element,
    pub(super) fields: Vec<Field>,
    /// Whether this is an enum, with exactly one field per value.
    pub(super) one_of: bool,
}

/// A field of the struct, or a variant of the enum.
pub(super) struct Field {
    /// The field or variant.
    pub(super) ident: Ident,
    pub(super) argument: Argument,
}

/// Checks a struct and removes our attributes from it.
pub(super) fn structure(args: Args, item: &mut ItemStruct, errors: &mut Errors) -> InputObject {
    let name = &item.ident;
    let mut fields = Vec::new();
    match &mut item.fields {
        Fields::Named(named) if !named.named.is_empty() => {
            fields.extend(named.named.iter_mut().filter_map(|field| {
                let ident = field.ident.clone()?;
                if let Some(instead) = types::instead_of_single_threaded(&field.ty, false) {
                    errors.in_place(&mut field.ty, instead);
                    return None;
                }
                Some(Field {
                    argument: Argument::field(&ident, &field.ty, &mut field.attrs, errors),
                    ident,
                })
            }));
        }
        Fields::Unnamed(unnamed) => {
            errors.at(
                unnamed,
                format!(
                    "fields need names in GraphQL; write `struct {name} {{ name: String, … }}`"
                ),
            );
        }
        Fields::Named(_) | Fields::Unit => {
            errors.at(
                name,
                format!("`{name}` has no fields; write `struct {name} {{ name: String, … }}`"),
            );
        }
    }

    finish(
        args,
        &item.ident,
        &item.attrs,
        &item.generics,
        fields,
        false,
        errors,
    )
}

/// Checks an enum and removes our attributes from it.
pub(super) fn one_of(args: Args, item: &mut ItemEnum, errors: &mut Errors) -> InputObject {
    if item.variants.is_empty() {
        errors.at(
            &item.ident,
            format!(
                "`{0}` has no variants; write `enum {0} {{ Id(Uuid), … }}`",
                item.ident
            ),
        );
    }

    let fields = item
        .variants
        .iter_mut()
        .filter_map(|variant| variant_field(variant, errors))
        .collect();

    finish(
        args,
        &item.ident,
        &item.attrs,
        &item.generics,
        fields,
        true,
        errors,
    )
}

fn variant_field(variant: &mut Variant, errors: &mut Errors) -> Option<Field> {
    let ident = variant.ident.clone();
    let ty = match &variant.fields {
        Fields::Unnamed(unnamed) if unnamed.unnamed.len() == 1 => &unnamed.unnamed[0].ty,
        Fields::Unit => {
            errors.at(
                &ident,
                format!(
                    "`{ident}` has no type; write `{ident}(Uuid)`, or use `#[svc_enum]` for plain \
                     values"
                ),
            );
            return None;
        }
        fields => {
            errors.at(
                fields,
                format!(
                    "a variant has one type; put more into a struct with `#[svc_input]`, as in \
                     `{ident}({ident}Input)`"
                ),
            );
            return None;
        }
    };

    // The variant becomes a field, and fields are in snake case before the naming setting applies.
    let rust = name::snake(&ident.unraw().to_string());
    let field = Ident::new(&rust, ident.span());
    let argument = Argument::field(&field, ty, &mut variant.attrs, errors);

    // The specification forbids defaults in a `@oneOf` type: they would add a second field.
    if let Some(default) = argument.default() {
        errors.at(
            &ident,
            format!(
                "exactly one variant is given, so none has a default; remove `default = {default}`"
            ),
        );
    }

    if let Some(nested) = &argument.nested {
        let message = "a variant holds no rows of another table; put the field into a struct with \
                       `#[svc_input]`";
        errors.push(syn::Error::new(nested.at.span(), message));
    }

    Some(Field { ident, argument })
}

fn finish(
    args: Args,
    ident: &Ident,
    attrs: &[Attribute],
    generics: &Generics,
    fields: Vec<Field>,
    one_of: bool,
    errors: &mut Errors,
) -> InputObject {
    let element = Element::new(ident, args.name.as_ref(), attrs, errors);
    element::check_unique(
        fields
            .iter()
            .map(|field| (&field.argument.element, &field.ident)),
        errors,
    );

    InputObject {
        parameters: types::Parameters::read(
            generics,
            if one_of { "enum" } else { "struct" },
            errors,
        ),
        krate: args.krate,
        ident: ident.clone(),
        cfgs: element::cfgs(attrs).cloned().collect(),
        element,
        fields,
        one_of,
    }
}
