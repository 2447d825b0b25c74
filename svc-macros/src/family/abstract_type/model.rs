//! An enum that can be an interface or a union.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens as _;
use syn::{Attribute, Fields, ItemEnum, Type, Variant};

use super::parse::{self, Args, Promise};
use crate::element::{self, Element};
use crate::errors::Errors;
use crate::krate::Crate;
use crate::types::{self, Place};
use crate::{keys, name};

/// An interface or union with its description.
pub(super) struct AbstractType {
    pub(super) krate: Crate,
    pub(super) ident: Ident,
    pub(super) cfgs: Vec<Attribute>,
    pub(super) parameters: types::Parameters,
    pub(super) element: Element,
    pub(super) source: Option<String>,
    /// `None` for a union.
    pub(super) promises: Option<Vec<Promised>>,
    pub(super) members: Vec<Member>,
    /// The description of the members, if this is a mutation's result.
    pub(super) result: Option<TokenStream>,
}

/// A field of an interface.
pub(super) struct Promised {
    ident: Ident,
    pub(super) element: Element,
    pub(super) ty: Type,
}

/// A variant.
pub(super) struct Member {
    pub(super) ident: Ident,
    pub(super) ty: Type,
}

/// Checks the enum and removes our attributes from it.
pub(super) fn build(args: Args, item: &mut ItemEnum, errors: &mut Errors) -> AbstractType {
    let element = Element::new(&item.ident, args.name.as_ref(), &item.attrs, errors);
    if let Some(source) = &args.sql_source {
        name::check_source(source, errors);
    }

    if item.variants.is_empty() {
        errors.at(
            &item.ident,
            format!(
                "`{0}` has no members; write `enum {0} {{ User(User), … }}`",
                item.ident
            ),
        );
    }

    let members: Vec<Member> = item
        .variants
        .iter_mut()
        .filter_map(|variant| member(variant, errors))
        .collect();

    check_members(&members, errors);
    let promises = args.fields.map(|fields| promises(fields, errors));

    AbstractType {
        parameters: types::Parameters::read(&item.generics, "enum", errors),
        krate: args.krate,
        ident: item.ident.clone(),
        cfgs: element::cfgs(&item.attrs).cloned().collect(),
        element,
        source: args.sql_source.map(|source| source.value()),
        promises,
        members,
        result: args.result,
    }
}

fn member(variant: &mut Variant, errors: &mut Errors) -> Option<Member> {
    keys::read_svc(&mut variant.attrs, &[], errors, |_, _| Ok(()));
    element::check_cfg(&mut variant.attrs, errors);
    let ident = &variant.ident;
    match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
            let ty = &fields.unnamed[0].ty;
            match types::generic(ty).filter(|(name, _)| {
                ["Option", "Vec", "Box", "Arc", "Rc"]
                    .iter()
                    .any(|n| name == n)
            }) {
                Some((_, object)) => {
                    let object = object.to_token_stream();
                    errors.at(
                        ty,
                        format!("a member carries its object as it is; write `{ident}({object})`"),
                    );
                }
                None => types::check(ty, Place::Field, errors),
            }

            Some(Member {
                ident: ident.clone(),
                ty: ty.clone(),
            })
        }
        Fields::Unit => {
            errors.at(
                ident,
                format!(
                    "a member carries its object; write `{ident}({ident})`, or use `#[svc_enum]` \
                     for plain values"
                ),
            );
            None
        }
        fields => {
            let ty = fields.iter().next().map_or_else(
                || ident.to_token_stream(),
                |first| first.ty.to_token_stream(),
            );
            errors.at(
                fields,
                format!("a member carries one object; write `{ident}({ty})`"),
            );
            None
        }
    }
}

fn check_members(members: &[Member], errors: &mut Errors) {
    for (index, Member { ident, ty }) in members.iter().enumerate() {
        // A stored object names its type, which must lead to one variant.
        if let Some(other) = members[..index].iter().find(|other| other.ty == *ty) {
            let (other, ty_text) = (&other.ident, ty.to_token_stream());
            errors.at(
                ty,
                format!("`{ty_text}` is a member already, as `{other}`; remove `{ident}`"),
            );
        }
    }
}

fn promises(fields: Vec<Promise>, errors: &mut Errors) -> Vec<Promised> {
    let promised: Vec<Promised> = fields
        .into_iter()
        .map(|field| promise(field, errors))
        .collect();
    element::check_unique(
        promised.iter().map(|field| (&field.element, &field.ident)),
        errors,
    );

    promised
}

fn promise(mut field: Promise, errors: &mut Errors) -> Promised {
    let name = parse::promise(&mut field.attrs, errors);
    element::check_cfg(&mut field.attrs, errors);
    types::check(&field.ty, Place::Field, errors);
    let element = Element::new(&field.ident, name.as_ref(), &field.attrs, errors);

    Promised {
        ident: field.ident,
        element,
        ty: field.ty,
    }
}
