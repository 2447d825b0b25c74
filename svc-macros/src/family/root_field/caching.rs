//! `cache = 30`, `reads = [Post]` and `invalidates = [Post]`: cached responses and their
//! invalidation.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::{LitInt, Path};

use crate::errors::Errors;
use crate::keys;
use crate::krate::Crate;

/// The maximum number of seconds in the cache.
const MAX_AGE: u32 = 86_400;

/// The keys about cached responses.
#[derive(Default)]
pub(super) struct Caching {
    /// The maximum age of a query's cached response, in seconds.
    seconds: Option<u32>,
    /// The row types that a query reads, or that a mutation writes, in addition to its return type.
    touches: Vec<Path>,
    /// The place of `reads`, which means nothing without `cache`.
    reads: Option<Span>,
}

impl Caching {
    /// Reads the value of `cache`.
    pub(super) fn read_seconds(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let value: LitInt = keys::value(key, input, "30")?;
        let seconds = value
            .base10_parse()
            .ok()
            .filter(|seconds| (1..=MAX_AGE).contains(seconds));
        let wrong = || {
            syn::Error::new(
                value.span(),
                format!("an answer is kept for 1 to {MAX_AGE} seconds"),
            )
        };

        self.seconds = Some(seconds.ok_or_else(wrong)?);

        Ok(())
    }

    /// Reads the value of `reads` or `invalidates`.
    pub(super) fn read_types(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        self.touches = keys::list(key, input, "Post")?;

        // `invalidates` of a mutation requires no `cache`.
        self.reads = (key == "reads").then(|| key.span());
        Ok(())
    }

    /// Reports `reads` without `cache`.
    pub(super) fn check(&self, errors: &mut Errors) {
        if let (Some(reads), None) = (self.reads, self.seconds) {
            let message = "this says what makes a kept answer old, and this one is not kept; add \
                           `cache = 30`";
            errors.push(syn::Error::new(reads, message));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.seconds.is_none() && self.touches.is_empty()
    }

    /// The fields of `RootRules`.
    pub(super) fn tokens(&self, krate: &Crate) -> TokenStream {
        let seconds = self
            .seconds
            .map_or_else(|| quote!(None), |seconds| quote!(Some(#seconds)));
        let touches = self
            .touches
            .iter()
            .map(|path| quote_spanned!(path.span()=> #krate::touched::<#path>));
        quote!(cache: ::core::option::Option::#seconds, touches: &[#(#touches),*])
    }
}
