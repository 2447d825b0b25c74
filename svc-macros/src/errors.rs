//! Collects every mistake of an item, so that one build shows them all.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Reports `message` at `tokens`.
    pub(crate) fn at(&mut self, tokens: &impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// Reports an error that already has its span.
    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// The value, or `None` after reporting why there is none.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Whether nothing was reported.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// One `compile_error!` per mistake.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.map(syn::Error::into_compile_error).unwrap_or_default()
    }

    /// The messages, in order.
    #[cfg(test)]
    pub(crate) fn messages(self) -> Vec<String> {
        self.0.into_iter().flatten().map(|error| error.to_string()).collect()
    }
}
