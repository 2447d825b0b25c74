//! Generic items, which a schema cannot express.

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::{Generics, TypeParamBound, parse_quote};

use crate::errors::Errors;

/// The type parameters and lifetimes of an item: none, unless a mistake has been reported.
///
/// The item's stubs have them too, so that its uses are not reported as well.
#[derive(Default)]
pub(crate) struct Parameters {
    /// `<T: …>`, after `impl`.
    pub(crate) declared: TokenStream,
    /// `<T>`, after the type.
    pub(crate) used: TokenStream,
    /// `where …`.
    pub(crate) bounds: TokenStream,
}

impl Parameters {
    /// Reports type parameters, lifetimes and where clauses of an item.
    pub(crate) fn read(generics: &Generics, what: &str, errors: &mut Errors) -> Self {
        if generics.params.is_empty() && generics.where_clause.is_none() {
            return Self::default();
        }

        let instead =
            format!("generics are not supported; write a concrete {what}, with owned types");
        match generics.params.is_empty() {
            true => errors.at(&generics.where_clause, instead),
            false => errors.at(&generics.params, instead),
        }

        // The traits of the stubs have these bounds, and rustc would report their absence as well.
        let mut generics = generics.clone();
        generics.type_params_mut().for_each(|param| {
            let bounds: [TypeParamBound; 3] = [
                parse_quote!(::core::marker::Send),
                parse_quote!(::core::marker::Sync),
                parse_quote!('static),
            ];
            param.bounds.extend(bounds);
        });

        generics
            .lifetimes_mut()
            .for_each(|lifetime| lifetime.bounds.push(parse_quote!('static)));
        let (declared, used, bounds) = generics.split_for_impl();

        Self {
            declared: declared.to_token_stream(),
            used: used.to_token_stream(),
            bounds: bounds.to_token_stream(),
        }
    }
}

/// Reports type parameters, lifetimes and where clauses of an `impl` block.
pub(crate) fn check_concrete(generics: &Generics, errors: &mut Errors) -> bool {
    let found = Parameters::read(generics, "type", errors);
    found.declared.is_empty() && found.bounds.is_empty()
}
