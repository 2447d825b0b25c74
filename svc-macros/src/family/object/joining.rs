//! The join view between the two ends of a relation: `through = "v_product_category"`, or
//! `through = ProductCategory`.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{LitStr, Path, Token};

use crate::errors::Errors;
use crate::keys;
use crate::name;

/// The value of `through`.
pub(super) enum Joining {
    /// A view without a type.
    View(LitStr),
    /// The type of the view's rows.
    Rows(Path),
}

impl Joining {
    /// Reads the value behind the key.
    pub(super) fn read(key: &Ident, input: ParseStream<'_>) -> syn::Result<Self> {
        // The value follows the `=`; a string is not an identifier.
        if input.peek2(Ident::peek_any) || input.peek2(Token![::]) {
            return keys::value(key, input, "ProductCategory").map(Self::Rows);
        }
        keys::string(key, input).map(Self::View)
    }

    /// Checks the name of a view; a type has already checked its name.
    pub(super) fn check(&self, errors: &mut Errors) {
        if let Self::View(source) = self {
            name::check_source(source, errors);
        }
    }
}

/// The value alone, to locate errors.
impl ToTokens for Joining {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::View(source) => source.to_tokens(tokens),
            Self::Rows(path) => path.to_tokens(tokens),
        }
    }
}
