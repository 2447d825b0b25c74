//! Collects every mistake of an item, so that one build reports all of them.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};
use syn::Type;
use syn::spanned::Spanned as _;

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Errors {
    reported: Option<syn::Error>,
    /// Messages placed in the item, instead of types.
    in_place: Vec<String>,
    /// Whether rustc reports the item itself.
    told_by_rustc: bool,
}

impl Errors {
    /// Reports `message` at `tokens`.
    pub(crate) fn at(&mut self, tokens: &impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// Reports an error that already has its span.
    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.reported {
            Some(all) => all.combine(error),
            None => self.reported = Some(error),
        }
    }

    /// Reports `message` in place of a type of the user's item.
    ///
    /// The compiler accepts a type with an error in it as any other type, `Send` and `Sync`
    /// included, and so does not report consequences of the mistake.
    pub(crate) fn in_place(&mut self, ty: &mut Type, message: impl Display) {
        let message = message.to_string();
        // The alias keeps imports in use.
        let tokens = quote_spanned! {ty.span()=>
            [(); { type _Written = #ty; ::core::compile_error!(#message) }]
        };
        *ty = Type::Verbatim(tokens);
        self.in_place.push(message);
    }

    /// Records a syntax error, which rustc has reported before it ran the macro.
    pub(crate) fn told_by_rustc(&mut self) {
        self.told_by_rustc = true;
    }

    /// The value, or `None` after reporting the error.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Whether there are no errors.
    pub(crate) fn is_empty(&self) -> bool {
        self.reported.is_none() && self.in_place.is_empty() && !self.told_by_rustc
    }

    /// One `compile_error!` per mistake that is not already placed in the item.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.reported
            .map(syn::Error::into_compile_error)
            .unwrap_or_default()
    }

    /// The messages: first the ones beside the item, then the ones in it.
    #[cfg(test)]
    pub(crate) fn messages(self) -> Vec<String> {
        let reported = self
            .reported
            .into_iter()
            .flatten()
            .map(|error| error.to_string());
        reported.chain(self.in_place).collect()
    }
}
