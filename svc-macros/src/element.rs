//! What every element of a schema carries: a name, a description, a deprecation.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt as _;
use syn::{Attribute, Expr, Lit, LitStr, Meta};

use crate::errors::Errors;
use crate::krate::Crate;
use crate::name;

/// A named element.
pub(crate) struct Element {
    /// The identifier without `r#`.
    pub(crate) rust: String,
    /// The GraphQL name that the source fixes.
    pub(crate) name: Option<String>,
    description: Option<String>,
    deprecated: Option<String>,
}

impl Element {
    /// The element `ident`, whose GraphQL name may be given; `attrs` has its documentation.
    pub(crate) fn new(ident: &Ident, given: Option<&LitStr>, attrs: &[Attribute], errors: &mut Errors) -> Self {
        let rust = ident.unraw().to_string();
        match given {
            Some(given) => name::check_given(given, errors),
            None => {
                if let Err(why) = name::graphql(&rust) {
                    errors.at(ident, format!("`{rust}` {why}; give it another with `name = \"…\"`"));
                }
            }
        }
        Self::unchecked(rust, given.map(LitStr::value), attrs)
    }

    /// An element whose names are known to be good.
    pub(crate) fn unchecked(rust: String, name: Option<String>, attrs: &[Attribute]) -> Self {
        Self { rust, name, description: description(attrs), deprecated: deprecated(attrs) }
    }

    /// The GraphQL name before the naming setting.
    pub(crate) fn graphql(&self) -> &str {
        self.name.as_ref().unwrap_or(&self.rust)
    }

    /// The documentation.
    pub(crate) fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The `ElementMeta`.
    pub(crate) fn meta(&self, krate: &Crate) -> TokenStream {
        let rust = &self.rust;
        let [name, description, deprecated] = [&self.name, &self.description, &self.deprecated].map(option);
        quote! {
            #krate::ElementMeta { rust: #rust, name: #name, description: #description, deprecated: #deprecated }
        }
    }
}

/// An `Option` that no name in the user's scope can shadow.
pub(crate) fn option<T: ToTokens>(value: &Option<T>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// Reports elements that have one GraphQL name.
pub(crate) fn check_unique<'a>(elements: impl Iterator<Item = (&'a Element, &'a Ident)>, errors: &mut Errors) {
    let mut seen = Vec::new();
    for (element, ident) in elements {
        let name = element.graphql();
        if seen.contains(&name) {
            errors.at(ident, format!("the name `{name}` is taken; give `{ident}` another with `#[svc(name = \"…\")]`"));
        }
        seen.push(name);
    }
}

/// Reports `#[cfg]` inside an item: the macro cannot see which parts stay.
pub(crate) fn check_cfg(attrs: &[Attribute], errors: &mut Errors) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr")) {
        errors.at(attr, "a part of an item cannot be conditional here; write the whole item once per `#[cfg(…)]`");
    }
}

/// The `#[cfg]` attributes of an item, which all that is generated for it must repeat.
pub(crate) fn cfgs(attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg"))
}

fn description(attrs: &[Attribute]) -> Option<String> {
    let lines: Vec<String> = attrs.iter().filter_map(doc_line).collect();
    let text = lines.join("\n");
    Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn doc_line(attr: &Attribute) -> Option<String> {
    match &attr.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => text(&doc.value).map(|text| {
            let lines: Vec<&str> =
                text.split('\n').map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end()).collect();
            lines.join("\n")
        }),
        _ => None,
    }
}

fn deprecated(attrs: &[Attribute]) -> Option<String> {
    let attr = attrs.iter().find(|attr| attr.path().is_ident("deprecated"))?;
    let mut note = None;
    match &attr.meta {
        Meta::Path(_) => {}
        Meta::NameValue(reason) => note = text(&reason.value),
        // rustc reports malformed `#[deprecated]` attributes itself.
        Meta::List(list) => drop(list.parse_nested_meta(|key| {
            let value: LitStr = key.value()?.parse()?;
            if key.path.is_ident("note") {
                note = Some(value.value());
            }
            Ok(())
        })),
    }
    Some(note.unwrap_or_default())
}

fn text(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        Expr::Group(group) => text(&group.expr),
        _ => None,
    }
}
