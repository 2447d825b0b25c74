//! Guards: `#[svc::requires_permission("posts:write")]` and its siblings, consumed by the attribute
//! that registers the item.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, LitStr, Meta, Token};

use crate::errors::Errors;
use crate::function::Function;
use crate::krate::Crate;
use crate::nearest::nearest;

/// The guards and their variants of `Guard`.
const GUARDS: [(&str, &str); 5] = [
    ("requires_auth", "Auth"),
    ("requires_permission", "Permission"),
    ("requires_role", "Role"),
    ("requires_any_permission", "AnyPermission"),
    ("requires_any_role", "AnyRole"),
];

/// Words that mark an attribute as a likely guard.
const GUARDING: [&str; 9] = [
    "auth", "role", "permi", "require", "guard", "secur", "protect", "admin", "logged",
];

/// The attributes that accept guards below them.
const REGISTERING: [&str; 4] = ["query", "mutation", "subscription", "svc_type"];

/// The guards of an item; all of them must pass.
#[derive(Default)]
pub(crate) struct Guards(Vec<Guard>);

struct Guard {
    variant: &'static str,
    names: Vec<LitStr>,
    span: Span,
}

impl Guards {
    /// Removes the guards from an item.
    pub(crate) fn take(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Self {
        // Misspelled guards of svc. rustc would only report an unknown attribute and not suggest
        // the intended one.
        for attr in attrs.extract_if(.., |attr| {
            is_of_svc(attr) && variant(attr).is_none() && meant(attr).is_some()
        }) {
            errors.push(syn::Error::new(attr.path().span(), instead(&attr)));
        }

        // Guards are found by the last segment, because a program may import them or rename svc.
        let guards = attrs.extract_if(.., |attr| variant(attr).is_some());
        Self(guards.filter_map(|attr| errors.ok(read(&attr))).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The list of guards. If svc is built without users, it does not compile.
    pub(crate) fn tokens(&self, krate: &Crate) -> TokenStream {
        let Some(Guard { span, .. }) = self.0.first() else {
            return quote!(&[]);
        };

        let guards = self.0.iter().map(|Guard { variant, names, .. }| {
            let ident = format_ident!("{variant}");
            match *variant {
                "Auth" => quote!(#krate::Guard::#ident),
                "Permission" | "Role" => quote!(#krate::Guard::#ident(#(#names)*)),
                _ => quote!(#krate::Guard::#ident(&[#(#names),*])),
            }
        });

        // All tokens of the path have the span of the guard, so that rustc points to it.
        let krate = krate.to_token_stream().into_iter().map(|mut token| {
            token.set_span(*span);
            token
        });
        let krate: TokenStream = krate.collect();

        quote_spanned!(*span=> #krate::guards!(&[#(#guards),*]))
    }
}

fn variant(attr: &Attribute) -> Option<&'static str> {
    let name = attr.path().segments.last()?;
    GUARDS
        .iter()
        .find(|(guard, _)| name.ident == guard)
        .map(|(_, variant)| *variant)
}

/// The guard that a misspelled attribute most likely means.
fn meant(attr: &Attribute) -> Option<&'static str> {
    let name = attr.path().segments.last()?.ident.to_string();
    nearest(&name, GUARDS.iter().map(|(guard, _)| *guard))
}

/// Whether an attribute is written with the path `svc::`.
fn is_of_svc(attr: &Attribute) -> bool {
    let segments = &attr.path().segments;
    segments.len() > 1 && segments.first().is_some_and(|first| first.ident == "svc")
}

/// Whether an attribute looks like a guard.
pub(crate) fn is_guarding(attr: &Attribute) -> bool {
    let name = attr
        .path()
        .segments
        .last()
        .map(|name| name.ident.to_string().to_ascii_lowercase())
        .unwrap_or_default();
    // A wrong guess only changes the message: the attribute is an error in either case.
    meant(attr).is_some() || GUARDING.iter().any(|word| name.contains(word))
}

/// The message that suggests a guard in place of an attribute that is not one.
pub(crate) fn instead(attr: &Attribute) -> String {
    let path = attr
        .path()
        .segments
        .iter()
        .map(|segment| segment.ident.to_string())
        .collect::<Vec<_>>()
        .join("::");

    match meant(attr) {
        Some(meant) => format!(
            "`#[{path}]` is not a guard, so nothing is guarded; did you mean `#[svc::{meant}]`?"
        ),
        None => {
            let all: Vec<_> = GUARDS
                .iter()
                .map(|(guard, _)| format!("`#[svc::{guard}]`"))
                .collect();
            format!(
                "`#[{path}]` guards nothing on a function without a body; the guards are {}; write \
                 one of them, or a body",
                all.join(", ")
            )
        }
    }
}

fn read(attr: &Attribute) -> syn::Result<Guard> {
    // Only attributes with a variant are read, so the default never occurs.
    let variant = variant(attr).unwrap_or_default();
    let names: Vec<LitStr> = match &attr.meta {
        Meta::Path(_) => Vec::new(),
        Meta::List(list) => Punctuated::<LitStr, Token![,]>::parse_terminated
            .parse2(list.tokens.clone())
            .map_err(|error| {
                syn::Error::new(error.span(), format!("{error}; write {}", example(variant)))
            })?
            .into_iter()
            .collect(),
        Meta::NameValue(_) => {
            return Err(syn::Error::new(
                attr.span(),
                format!("write {}", example(variant)),
            ));
        }
    };

    if let Some(blank) = names.iter().find(|name| name.value().trim().is_empty()) {
        return Err(syn::Error::new(
            blank.span(),
            "the name is empty, so no user has it; write its name",
        ));
    }

    // `requires_any_role` without a role would reject every user.
    let fits = match variant {
        "Auth" => names.is_empty(),
        "Permission" | "Role" => names.len() == 1,
        _ => !names.is_empty(),
    };

    if !fits {
        return Err(syn::Error::new(
            attr.span(),
            format!("write {}", example(variant)),
        ));
    }

    Ok(Guard {
        variant,
        names,
        span: attr.path().span(),
    })
}

fn example(variant: &str) -> &'static str {
    match variant {
        "Auth" => "`#[svc::requires_auth]`; it takes no names",
        "Permission" => {
            "`#[svc::requires_permission(\"posts:write\")]`; for one of several, \
             `#[svc::requires_any_permission(…)]`"
        }
        "Role" => {
            "`#[svc::requires_role(\"editor\")]`; for one of several, \
             `#[svc::requires_any_role(…)]`"
        }
        "AnyPermission" => "`#[svc::requires_any_permission(\"posts:write\", \"posts:review\")]`",
        _ => "`#[svc::requires_any_role(\"editor\", \"admin\")]`",
    }
}

/// Reports a guard that no registering attribute has consumed, because it is misplaced, and returns
/// the item below it.
pub(crate) fn misplaced(guard: &str, item: TokenStream, errors: &mut Errors) -> TokenStream {
    // rustc expands attributes from the top, so the ones below a misplaced guard are still in the
    // item.
    let attrs = match syn::parse2::<Function>(item.clone()) {
        Ok(function) => function.attrs,
        Err(_) => syn::parse2::<syn::ItemStruct>(item.clone())
            .map(|item| item.attrs)
            .unwrap_or_default(),
    };

    let names = attrs.iter().filter_map(|attr| attr.path().segments.last());
    let found = REGISTERING
        .iter()
        .find(|known| names.clone().any(|name| name.ident == **known));
    let message = match found {
        Some(&"svc_type") => {
            format!("`#[svc::{guard}]` guards single fields; put it on a field of the struct")
        }
        Some(registering) => {
            format!(
                "`#[svc::{guard}]` stands above `#[svc::{registering}]`, which has to come first; \
                 move it below"
            )
        }
        None => format!(
            "`#[svc::{guard}]` goes below `#[svc::query]`, `#[svc::mutation]` or \
             `#[svc::subscription]` on a function, or on a field or a method of an `#[svc_type]`"
        ),
    };

    errors.push(syn::Error::new(Span::call_site(), message));

    item
}
