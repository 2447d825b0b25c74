//! `order_by = "-created_at, name"`: the order of rows if the client requests none.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::LitStr;
use syn::parse::ParseStream;

use crate::keys;
use crate::krate::Crate;

/// The keys of an order, most significant first.
pub(crate) struct DefaultOrder {
    pub(crate) at: LitStr,
    keys: Vec<Key>,
}

/// A column or stored field, and whether its largest value comes first.
struct Key {
    column: String,
    descending: bool,
}

impl DefaultOrder {
    /// Reads the value of `key`.
    pub(crate) fn read(key: &Ident, input: ParseStream<'_>) -> syn::Result<Self> {
        let at = keys::value::<LitStr>(key, input, "\"-created_at, name\"")?;
        let text = at.value();
        let parsed: Result<Vec<Key>, &str> =
            text.split(',').map(|part| Key::read(part.trim())).collect();

        match parsed {
            Ok(keys) => Ok(Self { at, keys }),
            Err(part) => Err(syn::Error::new(
                at.span(),
                format!(
                    "`{part}` is not a key of an order; name columns or stored fields, with `-` \
                     for the largest first, such as `{key} = \"-created_at, name\"`"
                ),
            )),
        }
    }

    /// The keys in generated code.
    pub(crate) fn tokens(&self, krate: &Crate) -> TokenStream {
        let keys = self
            .keys
            .iter()
            .map(|Key { column, descending }| {
                quote!(#krate::OrderKey { column: #column, descending: #descending })
            });
        quote!(&[#(#keys),*])
    }
}

impl Key {
    fn read(part: &str) -> Result<Self, &str> {
        let column = part.strip_prefix('-').unwrap_or(part);

        // PostgreSQL allows letters beyond ASCII in names.
        let is_name =
            |name: &str| !name.is_empty() && name.chars().all(|c| c == '_' || c.is_alphanumeric());
        match column.split('.').all(is_name) {
            true => Ok(Self {
                column: column.to_owned(),
                descending: part.starts_with('-'),
            }),
            false => Err(part),
        }
    }
}
