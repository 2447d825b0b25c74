//! An enum whose variants are values.

use proc_macro2::Ident;
use syn::ext::IdentExt as _;
use syn::{Attribute, Fields, ItemEnum, LitStr, Variant};

use super::parse::{self, Args};
use crate::element::{self, Element};
use crate::errors::Errors;
use crate::krate::Crate;
use crate::{name, types};

/// An enum with its description.
pub(super) struct Enumeration {
    pub(super) krate: Crate,
    pub(super) ident: Ident,
    pub(super) cfgs: Vec<Attribute>,
    pub(super) parameters: types::Parameters,
    pub(super) element: Element,
    pub(super) values: Vec<Value>,
}

/// A variant.
pub(super) struct Value {
    pub(super) ident: Ident,
    /// Its GraphQL name is always set.
    pub(super) element: Element,
    pub(super) stored: String,
}

/// Checks the enum and removes our attributes from it.
pub(super) fn build(args: Args, item: &mut ItemEnum, errors: &mut Errors) -> Enumeration {
    let element = Element::new(&item.ident, args.name.as_ref(), &item.attrs, errors);
    if item.variants.is_empty() {
        errors.at(
            &item.ident,
            format!(
                "`{0}` has no values; add one, as in `enum {0} {{ Active }}`",
                item.ident
            ),
        );
    }

    let values: Vec<Value> = item
        .variants
        .iter_mut()
        .map(|variant| value(variant, errors))
        .collect();

    element::check_unique(
        values.iter().map(|value| (&value.element, &value.ident)),
        errors,
    );
    check_stored(&values, errors);

    Enumeration {
        parameters: types::Parameters::read(&item.generics, "enum", errors),
        krate: args.krate,
        ident: item.ident.clone(),
        cfgs: element::cfgs(&item.attrs).cloned().collect(),
        element,
        values,
    }
}

fn value(variant: &mut Variant, errors: &mut Errors) -> Value {
    let args = parse::variant(&mut variant.attrs, errors);
    element::check_cfg(&mut variant.attrs, errors);

    if !matches!(variant.fields, Fields::Unit) {
        let name = &variant.ident;
        errors.at(
            &variant.fields,
            format!(
                "a value of an enum carries no data; write `{name}` alone, or use `#[svc_union]`"
            ),
        );
    }

    let rust = variant.ident.unraw().to_string();
    let name = args
        .name
        .as_ref()
        .map_or_else(|| name::screaming_snake(&rust), LitStr::value);
    check_name(&name, variant, args.name.as_ref(), errors);
    let stored = args
        .stored
        .map_or_else(|| name.clone(), |stored| stored.value());
    let element = Element::unchecked(rust, Some(name), &variant.attrs);

    Value {
        ident: variant.ident.clone(),
        element,
        stored,
    }
}

fn check_name(name: &str, variant: &Variant, given: Option<&LitStr>, errors: &mut Errors) {
    let why = match name {
        // The specification excludes these names, which are literals.
        "true" | "false" | "null" => "means something else in GraphQL",
        name => match name::graphql(name) {
            Ok(()) => return,
            Err(why) => why,
        },
    };

    match given {
        Some(given) => errors.at(given, format!("`{name}` {why}; take another name")),
        None => errors.at(
            &variant.ident,
            format!("`{name}` {why}; give it another with `#[svc(name = \"…\")]`"),
        ),
    }
}

fn check_stored(values: &[Value], errors: &mut Errors) {
    for (index, value) in values.iter().enumerate() {
        if let Some(other) = values[..index]
            .iter()
            .find(|other| other.stored == value.stored)
        {
            let (this, other, stored) = (&value.ident, &other.ident, &value.stored);
            // Equal names have been reported already.
            if other_name(values, index) {
                errors.at(
                    this,
                    format!(
                        "`{other}` and `{this}` are both stored as `{stored}`; give one another \
                         `stored = \"…\"`"
                    ),
                );
            }
        }
    }
}

fn other_name(values: &[Value], index: usize) -> bool {
    values[..index]
        .iter()
        .all(|other| other.element.graphql() != values[index].element.graphql())
}
