//! The parameter for the context of the request.

use syn::{GenericArgument, Path, PathArguments, Type};

use super::peel;

/// How a function takes the context of the request.
#[derive(PartialEq, Eq)]
pub(crate) enum ContextParameter {
    /// `&T`, or an alias with a lifetime.
    Right,
    /// The context, but not by reference.
    Wrong,
}

/// How a parameter of this type takes the context; `None` for an argument.
///
/// Only the compiler can resolve names. So a borrowed parameter is assumed to be the context, as an
/// argument owns its value, and the trait `ContextParameter` makes the compiler check it.
pub(crate) fn context(ty: &Type) -> Option<ContextParameter> {
    let wrong = |ty: &Type| names_context(ty).then_some(ContextParameter::Wrong);
    match peel(ty) {
        Type::Reference(reference) => match peel(&reference.elem) {
            // `&str` is a mistaken argument, for which the message about ownership is the right
            // one.
            Type::Path(path) if reference.mutability.is_none() && !is_std_value(&path.path) => {
                Some(ContextParameter::Right)
            }
            inner => wrong(inner),
        },
        Type::Path(path) if has_only_lifetimes(&path.path) => {
            wrong(ty).or(Some(ContextParameter::Right))
        }
        _ => None,
    }
}

/// Whether the type is `Context<'_>`, or a reference to it.
fn names_context(ty: &Type) -> bool {
    match peel(ty) {
        Type::Reference(reference) => names_context(&reference.elem),
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "Context"),
        _ => false,
    }
}

fn has_only_lifetimes(path: &Path) -> bool {
    let arguments = path.segments.last().map(|last| &last.arguments);
    let Some(PathArguments::AngleBracketed(args)) = arguments else {
        return false;
    };

    // A type with `'static` borrows nothing from the call, so it may be an argument.
    args.args
        .iter()
        .all(|arg| matches!(arg, GenericArgument::Lifetime(lifetime) if lifetime.ident != "static"))
}

/// Whether the path names a value of the standard library, such as `str` or `Vec<T>`.
fn is_std_value(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| {
        let primitive = last.arguments.is_none()
            && [
                "str", "String", "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
                "f32", "f64",
            ]
            .iter()
            .any(|name| last.ident == name);

        primitive
            || (!last.arguments.is_none()
                && ["Vec", "Option", "Box"]
                    .iter()
                    .any(|name| last.ident == name))
    })
}
