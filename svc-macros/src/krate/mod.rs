//! The path to our own items in generated code.

pub(crate) mod dependency;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Path;

/// The crate: `::svc`, or the path given with `crate = path`.
///
/// It prints as `__svc`, a name that [`import`](Self::import) introduces inside a block of
/// generated code. So a program without svc gets one error per item.
#[derive(Default)]
pub(crate) struct Crate(Option<Path>);

impl Crate {
    /// The crate at `path`.
    pub(crate) fn at(path: Path) -> Self {
        Self(Some(path))
    }

    /// The import at the start of a block of generated code.
    pub(crate) fn import(&self) -> TokenStream {
        let path = self.path();
        quote!(use #path as __svc;)
    }

    /// The path to the items used by generated code, for use outside such a block.
    pub(crate) fn path(&self) -> TokenStream {
        match &self.0 {
            Some(path) => quote!(#path::__private),
            None => {
                // svc is also found under another name, so that the message about the name is the
                // only one.
                let name = dependency::other_name().unwrap_or("svc");

                // The path resolves in the program: svc-macros itself does not depend on svc.
                let name = Ident::new(name, Span::call_site());
                quote!(::#name::__private)
            }
        }
    }

    /// `crate = path`, for a macro that expands another one; empty if the source does not set it.
    pub(crate) fn key(&self) -> TokenStream {
        self.0
            .as_ref()
            .map(|path| quote!(crate = #path))
            .unwrap_or_default()
    }

    /// Keeps svc's own types out of rustc's suggestions for a user's type that lacks a macro.
    pub(crate) fn quiet(&self) -> TokenStream {
        match &self.0 {
            // Only svc's own crates write `crate = crate`.
            Some(path) if path.is_ident("crate") => quote!(#[diagnostic::do_not_recommend]),
            _ => TokenStream::new(),
        }
    }
}

impl ToTokens for Crate {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(quote!(__svc));
    }
}
