//! An enum that can be a mutation's result.

use proc_macro2::Ident;
use quote::format_ident;
use syn::ext::IdentExt as _;
use syn::{Attribute, Field, Fields, ItemEnum, LitStr, Variant, Visibility, parse_quote};

use super::parse::{self, Args};
use crate::errors::Errors;
use crate::krate::Crate;
use crate::{element, types};

/// Fields filled only by a database function, which are therefore not the entity.
const NAMED: [&str; 2] = ["cascade", "metadata"];

/// A member of the union.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Success,
    Error,
}

impl Side {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Success => "Success",
            Self::Error => "Error",
        }
    }

    /// The fields that svc adds to the member.
    pub(super) fn automatic(self) -> [&'static str; 4] {
        match self {
            Self::Success => ["status", "message", "updated_fields", "id"],
            Self::Error => ["status", "message", "code", "errors"],
        }
    }
}

/// A result with its members.
pub(super) struct ResultUnion {
    pub(super) krate: Crate,
    pub(super) name: Option<LitStr>,
    /// Whether the success has the field `query`.
    pub(super) query: bool,
    pub(super) attrs: Vec<Attribute>,
    pub(super) vis: Visibility,
    pub(super) ident: Ident,
    pub(super) members: [Member; 2],
}

/// A variant, which becomes a struct.
pub(super) struct Member {
    pub(super) side: Side,
    /// The struct.
    pub(super) ident: Ident,
    /// Its name in GraphQL.
    pub(super) name: LitStr,
    pub(super) attrs: Vec<Attribute>,
    /// The fields other than the automatic ones.
    pub(super) fields: Vec<Field>,
}

impl Member {
    /// The name of the field with the entity: the first field not filled otherwise.
    pub(super) fn entity(&self) -> Option<String> {
        let mut names = self
            .fields
            .iter()
            .filter_map(|field| field.ident.as_ref())
            .map(|ident| ident.unraw().to_string());
        names.find(|name| !NAMED.contains(&name.as_str()))
    }
}

/// Checks the enum.
pub(super) fn build(args: Args, item: ItemEnum, errors: &mut Errors) -> ResultUnion {
    types::Parameters::read(&item.generics, "enum", errors);

    // The generated code takes the two members by their positions, in this order.
    let members = [Side::Success, Side::Error].map(|side| Member {
        side,
        ident: format_ident!(
            "{}{}",
            item.ident.unraw(),
            side.name(),
            span = item.ident.span()
        ),
        name: LitStr::new(&graphql_name(&item.ident, side), item.ident.span()),
        attrs: Vec::new(),
        fields: Vec::new(),
    });

    let mut result = ResultUnion {
        krate: args.krate,
        name: args.name,
        query: args.query,
        attrs: item.attrs,
        vis: item.vis,
        ident: item.ident,
        members,
    };

    let mut seen = Vec::new();
    for mut variant in item.variants {
        let name = parse::variant(&mut variant.attrs, errors);
        element::check_cfg(&mut variant.attrs, errors);

        match result
            .members
            .iter_mut()
            .find(|member| variant.ident == member.side.name())
        {
            Some(member) => {
                seen.push(member.side);

                // Located at the variant for messages, but with the hygiene of the enum's name.
                member
                    .ident
                    .set_span(variant.ident.span().resolved_at(member.ident.span()));
                let query = args.query && member.side == Side::Success;
                member.fields = fields(&variant, member.side, query, errors);
                member.name = name.unwrap_or_else(|| member.name.clone());
                member.attrs = variant.attrs;
            }

            None => errors.at(
                &variant.ident,
                format!(
                    "a result has the members `Success` and `Error`; `{}` is neither",
                    variant.ident
                ),
            ),
        }
    }

    report_missing(&result.ident, &seen, errors);

    result
}

/// Reports the members that the enum lacks, unless a misspelled one was reported already.
fn report_missing(ident: &Ident, seen: &[Side], errors: &mut Errors) {
    for side in [Side::Success, Side::Error] {
        if !seen.contains(&side) && errors.is_empty() {
            let side = side.name();
            errors.at(
                ident,
                format!("`{ident}` has no `{side}`; write `{side},` or `{side} {{ … }}`"),
            );
        }
    }
}

/// `CreateUserResult` has `CreateUserSuccess` and `CreateUserError`. The structs have longer names,
/// as programs tend to define their own `CreateUserError`.
fn graphql_name(ident: &Ident, side: Side) -> String {
    let text = ident.unraw().to_string();
    let base = text.strip_suffix("Result").unwrap_or(&text);
    format!("{base}{}", side.name())
}

/// The variant's own fields. `query` is whether svc adds a field of this name.
fn fields(variant: &Variant, side: Side, query: bool, errors: &mut Errors) -> Vec<Field> {
    let named = match &variant.fields {
        Fields::Unit => return Vec::new(),
        Fields::Named(named) => named,
        Fields::Unnamed(unnamed) => {
            let side = side.name();
            errors.at(
                unnamed,
                format!("fields need names in GraphQL; write `{side} {{ user: User }}`"),
            );
            return Vec::new();
        }
    };

    let own = |field: &Field| {
        let ident = field.ident.as_ref()?;
        let is_automatic = side.automatic().iter().any(|name| ident.unraw() == name);
        if is_automatic || (query && ident.unraw() == "query") {
            errors.at(
                ident,
                format!(
                    "every {} has the field `{ident}` by itself; remove it",
                    side.name().to_lowercase()
                ),
            );
            return None;
        }

        // The fields of a variant are always public, unlike the fields of a struct.
        Some(Field {
            vis: parse_quote!(pub),
            ..field.clone()
        })
    };

    named.named.iter().filter_map(own).collect()
}
