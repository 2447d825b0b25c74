//! Elements of a schema: everything with a name, a description and a deprecation.

mod docs;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::punctuated::Punctuated;
use syn::{Attribute, LitStr, Meta, Token};

use crate::errors::Errors;
use crate::krate::Crate;
use crate::name;

/// A named element.
pub(crate) struct Element {
    /// The identifier without `r#`.
    pub(crate) rust: String,
    /// The GraphQL name, if the source sets it.
    pub(crate) name: Option<String>,
    description: Option<TokenStream>,
    deprecated: Option<String>,
}

impl Element {
    /// The element `ident`, with an optional explicit GraphQL name; `attrs` has its documentation.
    pub(crate) fn new(
        ident: &Ident,
        given: Option<&LitStr>,
        attrs: &[Attribute],
        errors: &mut Errors,
    ) -> Self {
        let rust = ident.unraw().to_string();
        match given {
            Some(given) => name::check_given(given, errors),
            None => {
                // The naming setting only changes the case of letters and removes underscores.
                if let Err(why) = name::graphql(&rust) {
                    errors.at(
                        ident,
                        format!("`{rust}` {why}; give it another with `name = \"…\"`"),
                    );
                }
            }
        }

        Self::unchecked(rust, given.map(LitStr::value), attrs)
    }

    /// An element whose names have been checked already.
    pub(crate) fn unchecked(rust: String, name: Option<String>, attrs: &[Attribute]) -> Self {
        Self {
            rust,
            name,
            description: docs::description(attrs),
            deprecated: deprecated(attrs),
        }
    }

    /// An element derived from this one, deprecated with it.
    pub(crate) fn beside(&self, rust: String, name: Option<&LitStr>) -> Self {
        Self {
            rust,
            name: name.map(LitStr::value),
            description: None,
            deprecated: self.deprecated.clone(),
        }
    }

    /// The GraphQL name before the naming setting.
    pub(crate) fn graphql(&self) -> &str {
        self.name.as_ref().unwrap_or(&self.rust)
    }

    /// The `ElementMeta`.
    pub(crate) fn meta(&self, krate: &Crate) -> TokenStream {
        let rust = &self.rust;
        let name = self.name.iter().map(|name| quote!(.named(#name)));
        let description = self
            .description
            .iter()
            .map(|text| quote!(.described(#text)));
        let deprecated = self
            .deprecated
            .iter()
            .map(|reason| quote!(.deprecated(#reason)));

        quote!(#krate::ElementMeta::new(#rust)#(#name)* #(#description)* #(#deprecated)*)
    }
}

/// The `Place` of an item. Tokens spanned at its name have the line of the name; tokens of the
/// macro have the attribute's line.
pub(crate) fn place(krate: &Crate, ident: &Ident) -> TokenStream {
    let line = line(ident);
    quote!(#krate::Place { file: ::core::file!(), line: #line })
}

/// The line of a name.
pub(crate) fn line(ident: &Ident) -> TokenStream {
    quote_spanned!(ident.span()=> ::core::line!())
}

/// An `Option` that no name in the user's scope can shadow.
pub(crate) fn option<T: ToTokens>(value: &Option<T>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// Reports elements with the same GraphQL name.
pub(crate) fn check_unique<'a>(
    elements: impl Iterator<Item = (&'a Element, &'a Ident)>,
    errors: &mut Errors,
) {
    let mut seen = Vec::new();
    for (element, ident) in elements {
        let name = element.graphql();
        if seen.contains(&name) {
            errors.at(
                ident,
                format!(
                    "the name `{name}` is taken; give `{ident}` another with `#[svc(name = \"…\")]`"
                ),
            );
        }
        seen.push(name);
    }
}

/// Reports `#[cfg]` inside an item, and conditional attributes that shape the schema: the macro
/// cannot see which parts remain.
pub(crate) fn check_cfg(attrs: &mut Vec<Attribute>, errors: &mut Errors) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("cfg")) {
        errors.at(
            attr,
            "a part of an item cannot be conditional here; write the whole item once per \
             `#[cfg(…)]`",
        );
    }

    attrs.retain(|attr| {
        let conditional = conditional(&attr.meta);
        let Some(inner) = conditional.iter().find(|inner| makes_schema(inner)) else {
            return true;
        };

        let name = inner.path().to_token_stream();
        let instead = "write it without `cfg_attr`, or the whole item once per `#[cfg(…)]`";
        errors.at(
            inner,
            format!("`{name}` cannot be conditional here; {instead}"),
        );

        false
    });
}

/// The attributes inside a `#[cfg_attr(…)]`, including nested ones.
pub(crate) fn conditional(attr: &Meta) -> Vec<Meta> {
    let Meta::List(list) = attr else {
        return Vec::new();
    };
    if !list.path.is_ident("cfg_attr") {
        return Vec::new();
    }

    let metas = list
        .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
        .unwrap_or_default();

    // The first one is the condition.
    let given = metas.into_iter().skip(1);

    given
        .flat_map(|meta| {
            if meta.path().is_ident("cfg_attr") {
                conditional(&meta)
            } else {
                vec![meta]
            }
        })
        .collect()
}

/// Whether the macros read this attribute. A conditional doc comment is meant for rustdoc.
fn makes_schema(attr: &Meta) -> bool {
    ["cfg", "svc", "relation", "deprecated"]
        .iter()
        .any(|name| attr.path().is_ident(name))
}

/// The `#[cfg]` attributes of an item, repeated on all items generated for it.
pub(crate) fn cfgs(attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg"))
}

fn deprecated(attrs: &[Attribute]) -> Option<String> {
    let attr = attrs
        .iter()
        .find(|attr| attr.path().is_ident("deprecated"))?;
    let mut note = None;
    match &attr.meta {
        Meta::Path(_) => {}
        Meta::NameValue(reason) => note = docs::text(&reason.value),
        // rustc reports malformed `#[deprecated]` attributes itself.
        Meta::List(list) => drop(list.parse_nested_meta(|key| {
            let value: LitStr = key.value()?.parse()?;
            if key.path.is_ident("note") {
                note = Some(value.value());
            }
            Ok(())
        })),
    }

    // Without a note, the schema shows the default reason of `@deprecated`.
    Some(note.unwrap_or_default())
}
