//! Types without a GraphQL type, and their replacements.

use proc_macro2::Ident;
use quote::ToTokens as _;
use syn::visit::{self, Visit};
use syn::{
    GenericArgument, PathArguments, Type, TypeImplTrait, TypePath, TypeReference, TypeTuple,
};

use super::{generic, peel, pretty};
use crate::errors::Errors;

/// The place of a type; it determines the replacement for an invalid one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A field of an object or interface.
    Field,
    /// An argument, or a field of an input object.
    Argument,
    /// The return type of a function.
    Return,
}

/// Reports a type without a GraphQL type.
pub(crate) fn check(ty: &Type, place: Place, errors: &mut Errors) {
    Check { place, errors }.visit_type(ty);
}

struct Check<'a> {
    place: Place,
    errors: &'a mut Errors,
}

impl<'ast> Visit<'ast> for Check<'_> {
    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        // A returned `&'static str` is a text like any other.
        if self.place == Place::Return {
            return visit::visit_type_reference(self, reference);
        }

        let what = if self.place == Place::Field {
            "a field"
        } else {
            "an argument"
        };

        let owned = match peel(&reference.elem) {
            Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
            Type::Slice(slice) => format!("Vec<{}>", pretty(&slice.elem)),
            other => pretty(other),
        };

        self.errors
            .at(reference, format!("{what} owns its value; write `{owned}`"));
    }

    fn visit_type_tuple(&mut self, tuple: &'ast TypeTuple) {
        // `()` is a tuple to syn, but a struct in its place would have no fields, which GraphQL
        // forbids.
        let instead = match self.place {
            _ if tuple.elems.is_empty() => {
                "GraphQL has no empty type; use a real one, such as `bool`"
            }
            Place::Argument => "GraphQL has no tuples; write a struct with `#[svc_input]`",
            Place::Field | Place::Return => {
                "GraphQL has no tuples; write a struct with `#[svc_type]`"
            }
        };

        // The elements are not visited: the advice replaces the whole tuple.
        self.errors.at(tuple, instead);
    }

    fn visit_type_path(&mut self, ty: &'ast TypePath) {
        // Only a name without a path is certain: `id::usize` may be an alias of any type.
        if let Some(instead) = ty.path.get_ident().and_then(instead_of_primitive) {
            let name = ty.path.to_token_stream();
            return self.errors.at(
                ty,
                format!("GraphQL has no type for `{name}`; write {instead}"),
            );
        }

        if let Some(instead) = instead_of_optional_query(ty) {
            return self
                .errors
                .at(ty, format!("an `Option` cannot hold a query; {instead}"));
        }

        if self.place != Place::Return && is_text_behind_pointer(ty) {
            let what = if self.place == Place::Field {
                "a field"
            } else {
                "an argument"
            };
            return self
                .errors
                .at(ty, format!("{what} owns its value; write `String`"));
        }

        // The type arguments belong to the schema as well, as in `Vec<usize>`.
        visit::visit_type_path(self, ty);
    }

    fn visit_type_impl_trait(&mut self, ty: &'ast TypeImplTrait) {
        self.errors.at(
            ty,
            "the schema needs to know the type; write a concrete type instead of `impl …`",
        );
    }
}

/// The advice for an `Option` around `Find<T>` or `FindOne<T>`, which are returned as they are.
fn instead_of_optional_query(ty: &TypePath) -> Option<String> {
    let ty = Type::Path(ty.clone());
    let (_, query) = generic(&ty).filter(|(outer, _)| *outer == "Option")?;
    let (name, row) = generic(query)?;
    let (name, query, row) = (name.to_string(), pretty(query), pretty(row));

    match name.as_str() {
        "FindOne" => Some(format!(
            "write `{query}`, which answers null where there is no row"
        )),
        "Find" => Some(format!(
            "write `{query}`, or await it and return `Option<Vec<{row}>>`"
        )),
        _ => None,
    }
}

/// Whether this is a pointer to a text, such as `Box<str>`.
fn is_text_behind_pointer(ty: &TypePath) -> bool {
    let Some(last) = ty.path.segments.last() else {
        return false;
    };

    let PathArguments::AngleBracketed(args) = &last.arguments else {
        return false;
    };

    let is_str = |arg: &GenericArgument| {
        matches!(
            arg,
            GenericArgument::Type(Type::Path(inner)) if inner.path.is_ident("str")
        )
    };

    args.args.iter().any(is_str)
        && ["Box", "Arc", "Rc", "Cow"]
            .iter()
            .any(|pointer| last.ident == pointer)
}

/// Whether this is the name of a primitive type.
pub(crate) fn is_primitive(name: &Ident) -> bool {
    const NUMBERS: [&str; 14] = [
        "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize",
        "f32", "f64",
    ];
    ["bool", "char", "str"]
        .iter()
        .chain(&NUMBERS)
        .any(|primitive| name == primitive)
}

/// The advice for a Rust type that no scalar maps to.
fn instead_of_primitive(name: &Ident) -> Option<&'static str> {
    match name.to_string().as_str() {
        // Their size depends on the machine, and a schema must not.
        "usize" | "isize" => Some("`i64`"),
        "u128" | "i128" => Some("`i64`, or `Decimal` for longer numbers"),
        "char" => Some("`String`"),
        _ => None,
    }
}

/// The standard library's single-threaded types, and their thread-safe replacements.
const SINGLE_THREADED: [(&str, &str); 3] = [("Rc", "Arc"), ("Cell", "Mutex"), ("RefCell", "Mutex")];

/// The advice for a type that is or contains an `Rc`, a `Cell` or a `RefCell`: its thread-safe
/// counterpart if the field is `skipped`, and the value alone if it is read from a row.
pub(crate) fn instead_of_single_threaded(ty: &Type, skipped: bool) -> Option<String> {
    let (name, inner) = generic(ty)?;
    let Some((_, shared)) = SINGLE_THREADED.iter().find(|(single, _)| name == single) else {
        return instead_of_single_threaded(inner, skipped);
    };

    let instead = if skipped {
        format!("{shared}<{}>", pretty(inner))
    } else {
        pretty(inner)
    };

    Some(format!(
        "`{name}` stays in one thread, and requests do not; write `{instead}`"
    ))
}
