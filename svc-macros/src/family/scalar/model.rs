//! An `impl` block that can make a scalar.

use proc_macro2::Ident;
use syn::{Attribute, LitStr, Type};

use super::parse::{Args, Block};
use crate::element::{self, Element};
use crate::errors::Errors;
use crate::krate::Crate;
use crate::types;

/// A scalar with its description.
pub(super) struct Scalar {
    pub(super) krate: Crate,
    pub(super) ty: Type,
    pub(super) cfgs: Vec<Attribute>,
    pub(super) element: Element,
    pub(super) specified_by: Option<String>,
    pub(super) sql_type: String,
}

/// Checks the block; `None` if nothing can be generated.
pub(super) fn build(args: Args, block: &Block, errors: &mut Errors) -> Option<Scalar> {
    if block
        .of
        .segments
        .last()
        .is_none_or(|last| last.ident != "ScalarType")
    {
        errors.at(
            &block.of,
            "`#[svc_scalar]` goes on an `impl ScalarType for …`, not on another trait's",
        );
        return None;
    }

    let Some(ident) = ident(&block.ty) else {
        errors.at(
            &block.ty,
            "a scalar is a type of its own; wrap it, as in `struct Slug(String);`",
        );
        return None;
    };

    if !types::check_concrete(&block.generics, errors) {
        return None;
    }

    let element = Element::new(&ident, args.name.as_ref(), &block.attrs, errors);
    check_built_in(&element, &ident, args.name.as_ref(), errors);

    if let Some(url) = args
        .specified_by
        .as_ref()
        .filter(|url| !url.value().contains("://"))
    {
        errors.at(
            url,
            "`specified_by` is the URL of the scalar's specification, such as \
             `\"https://example.com/slug\"`",
        );
    }

    if let Some(sql_type) = args
        .sql_type
        .as_ref()
        .filter(|sql_type| !is_sql_type(&sql_type.value()))
    {
        errors.at(
            sql_type,
            "`sql_type` is the name of a PostgreSQL type in lower case, such as `\"numeric\"` or \
             `\"app.mood\"`",
        );
    }

    Some(Scalar {
        krate: args.krate,
        ty: block.ty.clone(),
        cfgs: element::cfgs(&block.attrs).cloned().collect(),
        element,
        specified_by: args.specified_by.map(|url| url.value()),
        sql_type: args
            .sql_type
            .map_or_else(|| "text".to_owned(), |sql_type| sql_type.value()),
    })
}

/// Whether `name` can be written into SQL unchanged: words, optionally with a schema.
fn is_sql_type(name: &str) -> bool {
    // No quotes or semicolons: the name becomes a part of statements, in casts of values.
    let is_word = |word: &str| {
        word.starts_with(|c: char| c == '_' || c.is_ascii_lowercase())
            && word
                .bytes()
                .all(|b| b == b'_' || b.is_ascii_lowercase() || b.is_ascii_digit())
    };

    // Some types have a name of several words, such as `double precision`.
    name.split('.').count() <= 2 && name.split(['.', ' ']).all(is_word)
}

fn ident(ty: &Type) -> Option<Ident> {
    match types::peel(ty) {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .filter(|last| last.arguments.is_none())
            .map(|last| last.ident.clone()),
        _ => None,
    }
}

fn check_built_in(element: &Element, ident: &Ident, given: Option<&LitStr>, errors: &mut Errors) {
    let name = element.graphql();
    if ["Int", "Float", "String", "Boolean", "ID"].contains(&name) {
        let message =
            format!("`{name}` is GraphQL's own; give the scalar another with `name = \"…\"`");
        match given {
            Some(given) => errors.at(given, message),
            None => errors.at(ident, message),
        }
    }
}
