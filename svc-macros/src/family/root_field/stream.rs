//! The return type of a subscription with a body: a stream of events, or a `Result` with one.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{AssocType, GenericArgument, PathArguments, Type, TypeParamBound};

use crate::errors::Errors;
use crate::function::Function;
use crate::krate::Crate;
use crate::types::{self, Place};

/// The stream that a function returns.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct EventStream {
    /// The type of the stream, or of its events for an `impl Stream`.
    pub(super) output: Type,
    is_impl: bool,
    /// Whether the function may return an error in place of the stream.
    pub(super) is_fallible: bool,
}

impl EventStream {
    /// Reads the return type of a function; reports a type that is not a stream.
    pub(super) fn of(function: &Function, errors: &mut Errors) -> Option<Self> {
        let returned = function.check_signature(errors)?;
        let (stream, is_fallible) = match in_result(&returned) {
            Some(stream) => (stream, true),
            None => (&returned, false),
        };

        // A named type may be an alias, so its trait determines the events.
        let Type::ImplTrait(stream) = types::peel(stream) else {
            return Some(Self {
                output: stream.clone(),
                is_impl: false,
                is_fallible,
            });
        };

        let Some(event) = stream.bounds.iter().find_map(event) else {
            errors.at(
                stream,
                "a subscription returns a stream; write `impl Stream<Item = …>`",
            );
            return None;
        };

        types::check(event, Place::Return, errors);

        Some(Self {
            output: event.clone(),
            is_impl: true,
            is_fallible,
        })
    }

    /// The type of the events.
    pub(super) fn event(&self, krate: &Crate) -> TokenStream {
        let output = types::outside(&self.output, None);
        match self.is_impl {
            true => output,
            false => {
                quote_spanned!(types::span(&self.output)=> <#output as #krate::EventStream>::Event)
            }
        }
    }

    /// The function that turns the resolver's return value into events.
    pub(super) fn reader(&self, krate: &Crate) -> TokenStream {
        if self.is_fallible {
            quote!(#krate::events_of_result)
        } else {
            quote!(#krate::events)
        }
    }
}

/// The stream of a `Result`.
fn in_result(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = types::peel(ty) else {
        return None;
    };

    let last = path
        .path
        .segments
        .last()
        .filter(|last| last.ident == "Result")?;

    let PathArguments::AngleBracketed(args) = &last.arguments else {
        return None;
    };

    match args.args.first()? {
        GenericArgument::Type(stream) => Some(stream),
        _ => None,
    }
}

/// The events of `Stream<Item = …>`.
fn event(bound: &TypeParamBound) -> Option<&Type> {
    let TypeParamBound::Trait(bound) = bound else {
        return None;
    };

    let last = bound
        .path
        .segments
        .last()
        .filter(|last| last.ident == "Stream")?;

    let PathArguments::AngleBracketed(args) = &last.arguments else {
        return None;
    };

    args.args.iter().find_map(|arg| match arg {
        GenericArgument::AssocType(AssocType { ident, ty, .. }) if ident == "Item" => Some(ty),
        _ => None,
    })
}
