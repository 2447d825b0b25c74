//! A struct that can be an object type.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::{Attribute, Fields, ItemStruct, LitStr, Path, Type};

use super::parse::{self, Args, FieldArgs, RelationArgs};
use crate::access::field_check::FieldChecks;
use crate::access::guard_attribute::Guards;
use crate::element::{self, Element};
use crate::errors::Errors;
use crate::krate::Crate;
use crate::name;
use crate::types::{self, Place};

/// A struct with its description.
pub(super) struct Object {
    pub(super) krate: Crate,
    pub(super) ident: Ident,
    pub(super) cfgs: Vec<Attribute>,
    pub(super) parameters: types::Parameters,
    pub(super) element: Element,
    pub(super) source: Option<String>,
    pub(super) fields: Vec<Field>,
    /// Fields that are not in GraphQL.
    pub(super) skipped: Vec<(Ident, Type)>,
    pub(super) implements: Vec<Path>,
    pub(super) authorize_fields: Vec<String>,
}

/// A field of the struct.
pub(super) struct Field {
    pub(super) ident: Ident,
    pub(super) element: Element,
    pub(super) stored: String,
    pub(super) ty: Type,
    /// Set on a field that leads to rows of another view.
    pub(super) relation: Option<RelationArgs>,
    /// The constant of svc that describes the field, if all results of mutations have it.
    pub(super) described_by: Option<Ident>,
    pub(super) guards: Guards,
    /// Whether the program asserts that the view never has a null here.
    pub(super) non_null: bool,
    pub(super) checks: FieldChecks,
}

/// Checks the struct and removes our attributes from it.
pub(super) fn build(args: Args, item: &mut ItemStruct, errors: &mut Errors) -> Object {
    let element = Element::new(&item.ident, args.name.as_ref(), &item.attrs, errors);
    let (fields, skipped) = fields(item, errors);
    check_stored(&fields, errors);
    element::check_unique(
        fields.iter().map(|field| (&field.element, &field.ident)),
        errors,
    );
    check_gates(&args.authorize_fields, &fields, &skipped, errors);
    check_repeated(&args.implements, "implements", errors);
    if let Some(source) = &args.sql_source {
        name::check_source(source, errors);
    }

    Object {
        parameters: types::Parameters::read(&item.generics, "struct", errors),
        krate: args.krate,
        ident: item.ident.clone(),
        cfgs: element::cfgs(&item.attrs).cloned().collect(),
        element,
        source: args.sql_source.map(|source| source.value()),
        fields,
        skipped,
        implements: args.implements,
        authorize_fields: args.authorize_fields.iter().map(LitStr::value).collect(),
    }
}

fn fields(item: &mut ItemStruct, errors: &mut Errors) -> (Vec<Field>, Vec<(Ident, Type)>) {
    let (mut fields, mut skipped) = (Vec::new(), Vec::new());
    let name = &item.ident;
    match &mut item.fields {
        Fields::Named(named) if named.named.is_empty() => {
            errors.at(
                name,
                format!("`{name}` has no fields; GraphQL needs at least one, such as `id: Uuid`"),
            );
        }
        Fields::Named(named) => {
            for each in &mut named.named {
                match field(each, errors) {
                    Some(field) => fields.push(field),
                    None => {
                        skipped.extend(each.ident.clone().map(|ident| (ident, each.ty.clone())));
                    }
                }
            }
        }
        Fields::Unnamed(unnamed) => {
            for each in &mut unnamed.unnamed {
                // The attributes are removed all the same, as rustc would report them too.
                parse::field(&mut each.attrs, errors);
            }
            errors.at(
                unnamed,
                format!("fields need names in GraphQL; write `struct {name} {{ id: Uuid, … }}`"),
            );
        }
        Fields::Unit => errors.at(
            name,
            format!("`{name}` has no fields; write `struct {name} {{ id: Uuid, … }}`"),
        ),
    }

    (fields, skipped)
}

fn field(field: &mut syn::Field, errors: &mut Errors) -> Option<Field> {
    // Before the first return, because rustc would report each attribute that is left.
    let args = parse::field(&mut field.attrs, errors);
    let guards = Guards::take(&mut field.attrs, errors);
    let checks = FieldChecks::take(&mut field.attrs, errors);

    element::check_cfg(&mut field.attrs, errors);
    let ident = field.ident.clone()?;
    if let Some(instead) = types::instead_of_single_threaded(&field.ty, args.skip) {
        errors.in_place(&mut field.ty, instead);
        return None;
    }

    if args.skip {
        let is_guarded = !guards.is_empty() || !checks.is_empty();
        check_skipped(&ident, &args, is_guarded, errors);
        return None;
    }

    if args.non_null && types::generic(&field.ty).is_some_and(|(outer, _)| outer == "Option") {
        errors.at(
            &ident,
            format!("`{ident}` may be null as an `Option`; remove `non_null`, or the `Option`"),
        );
    }

    types::check(&field.ty, Place::Field, errors);
    check_relation(&args, &field.ty, errors);

    if let Some(stored) = args
        .stored
        .as_ref()
        .filter(|stored| stored.value().is_empty())
    {
        errors.at(stored, "`stored` is empty; name a column or a JSON key");
    }

    let element = Element::new(&ident, args.name.as_ref(), &field.attrs, errors);
    let stored = args
        .stored
        .map_or_else(|| ident.unraw().to_string(), |stored| stored.value());
    let (ty, relation, non_null) = (field.ty.clone(), args.relation, args.non_null);

    Some(Field {
        ident,
        element,
        stored,
        ty,
        relation,
        described_by: None,
        guards,
        checks,
        non_null,
    })
}

/// Checks that a skipped field has nothing that only fields of the schema use.
fn check_skipped(ident: &Ident, args: &FieldArgs, is_guarded: bool, errors: &mut Errors) {
    if let Some(key) = args.name.as_ref().or(args.stored.as_ref()) {
        errors.at(
            key,
            format!("`{ident}` is skipped; remove this key, or remove `skip`"),
        );
    }

    if is_guarded {
        errors.at(
            ident,
            format!(
                "`{ident}` is skipped, so clients cannot ask for it; remove the guard, or `skip`"
            ),
        );
    }

    if args.relation.is_some() {
        errors.at(
            ident,
            format!("`{ident}` is skipped; remove `#[relation]`, or remove `skip`"),
        );
    }

    if args.non_null {
        errors.at(
            ident,
            format!("`{ident}` is skipped, so it is not read; remove `non_null`, or remove `skip`"),
        );
    }
}

/// Checks that a relation is marked as one, and has no stored name.
fn check_relation(args: &FieldArgs, ty: &Type, errors: &mut Errors) {
    match (&args.relation, &args.stored) {
        (Some(_), Some(stored)) => {
            errors.at(
                stored,
                "a relation is found by its keys; write `#[relation(from = \"…\")]` for the column \
                 here",
            );
        }
        (Some(_), None) => {
            if let Some(instead) = types::instead_of_relation(ty) {
                errors.at(
                    ty,
                    format!("a relation is read when it is asked for; {instead}"),
                );
            }
        }
        _ => {}
    }
}

fn check_stored(fields: &[Field], errors: &mut Errors) {
    for (index, field) in fields.iter().enumerate() {
        // Reading a field takes its value out of the row, so a second one would find nothing.
        let reads = |other: &&Field| other.relation.is_none() && other.stored == field.stored;
        if field.relation.is_none()
            && let Some(other) = fields[..index].iter().find(reads)
        {
            let (this, other, stored) = (&field.ident, &other.ident, &field.stored);
            let instead = "give one another `stored = \"…\"`, or write a method for it";
            errors.at(
                this,
                format!("`{other}` and `{this}` both read `{stored}`; {instead}"),
            );
        }
    }
}

/// A gate may also be a method, so only a skipped field is certainly wrong.
fn check_gates(gates: &[LitStr], fields: &[Field], skipped: &[(Ident, Type)], errors: &mut Errors) {
    check_repeated(gates, "authorize_fields", errors);

    for gate in gates {
        let name = gate.value();
        if skipped.iter().any(|(ident, _)| ident.unraw() == name) {
            errors.at(
                gate,
                format!(
                    "`{name}` is skipped, so clients cannot ask for it; remove it here, or remove \
                     `skip`"
                ),
            );
        } else if let Some(field) = fields
            .iter()
            .find(|field| field.element.rust != name && field.element.graphql() == name)
        {
            errors.at(
                gate,
                format!(
                    "fields are named as in Rust here; write `\"{}\"`",
                    field.element.rust
                ),
            );
        } else if name.is_empty() {
            errors.at(gate, "name a field or a method");
        }
    }
}

fn check_repeated<T: ToTokens + PartialEq>(items: &[T], key: &str, errors: &mut Errors) {
    for (index, item) in items.iter().enumerate() {
        if items[..index].contains(item) {
            errors.at(
                item,
                format!("`{}` is in `{key}` twice; keep one", item.to_token_stream()),
            );
        }
    }
}
