//! Fields of input objects with rows of another table: `row`, `rows` and `links`.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::{LitStr, Type};

use crate::errors::Errors;
use crate::keys;
use crate::krate::Crate;
use crate::{name, types};

/// The keys about rows of another table.
#[derive(Default)]
pub(crate) struct NestedKeys {
    /// The table, by each key that names one.
    tables: Vec<(Ident, LitStr)>,
    /// The keys that require a table key.
    others: Vec<Ident>,
    column: Option<LitStr>,
    references: Option<LitStr>,
    key: Option<LitStr>,
    of: Option<Type>,
}

/// The rows of another table in a field.
pub(crate) struct Nested {
    pub(crate) at: Ident,
    verb: &'static str,
    table: LitStr,
    column: LitStr,
    references: Option<LitStr>,
    key: Option<LitStr>,
    of: Option<Type>,
}

impl NestedKeys {
    /// Whether a key is one of these keys.
    pub(crate) fn has(key: &Ident) -> bool {
        ["row", "rows", "links", "column", "references", "key", "of"]
            .iter()
            .any(|known| key == known)
    }

    /// Reads the value of one of the keys.
    pub(crate) fn read(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let word = key.to_string();
        if matches!(word.as_str(), "row" | "rows" | "links") {
            self.tables
                .push((key.clone(), keys::value(key, input, "\"tb_order_line\"")?));
            return Ok(());
        }

        self.others.push(key.clone());

        match word.as_str() {
            "column" => self.column = Some(keys::value(key, input, "\"order_id\"")?),
            "references" => self.references = Some(keys::value(key, input, "\"pk_order\"")?),
            "key" => self.key = Some(keys::value(key, input, "\"pk_order_line\"")?),
            _ => self.of = Some(keys::value(key, input, "OrderLine")?),
        }

        Ok(())
    }

    /// The rows described by the keys, if any; reports keys that do not fit together.
    pub(crate) fn finish(self, errors: &mut Errors) -> Option<Nested> {
        let mut tables = self.tables.into_iter();
        let Some((at, table)) = tables.next() else {
            for other in &self.others {
                let message = "this is about rows of another table; name it, as in \
                               `rows = \"tb_order_line\"`";
                errors.push(syn::Error::new(other.span(), message));
            }
            return None;
        };

        name::check_table(&at, &table, errors);

        for (second, _) in tables {
            let message = format!(
                "a field does one thing with rows of another table; keep `{at}` or `{second}`"
            );
            errors.push(syn::Error::new(second.span(), message));
        }

        let verb = match at.to_string().as_str() {
            "row" => "Row",
            "rows" => "Rows",
            _ => "Links",
        };

        let Some(column) = self.column else {
            let whose = if verb == "Row" {
                "the outer row"
            } else {
                "these rows"
            };

            let message = format!(
                "the column by which {whose} refer to the other is missing; add \
                 `column = \"order_id\"`"
            );
            errors.push(syn::Error::new(
                at.span(),
                // "The outer row" is singular, unlike "these rows".
                message.replace("row refer ", "row refers "),
            ));

            return None;
        };

        Some(Nested {
            at,
            verb,
            table,
            column,
            references: self.references,
            key: self.key,
            of: self.of,
        })
    }
}

impl Nested {
    /// The `NestedMeta`.
    pub(crate) fn meta(&self, krate: &Crate) -> TokenStream {
        let Self {
            table,
            column,
            key,
            of,
            ..
        } = self;

        let verb = format_ident!("{}", self.verb);
        let references = crate::element::option(&self.references);
        let key = key.as_ref().map_or_else(|| "id".to_owned(), LitStr::value);
        let of = of.as_ref().map(|of| {
            let outside = types::outside(of, None);
            quote_spanned!(of.span()=> #krate::row_type::<#outside>)
        });
        let of = crate::element::option(&of);

        quote!(#krate::NestedMeta {
            verb: #krate::NestedVerb::#verb,
            table: #table,
            column: #column,
            references: #references,
            key: #key,
            of: #of,
        })
    }
}
