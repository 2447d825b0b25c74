//! `insert`, `update`, `upsert` and `delete`: mutations without a body that write rows of a table.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::ParseStream;
use syn::{LitInt, LitStr, Type};

use crate::argument::Parameters;
use crate::errors::Errors;
use crate::keys;
use crate::krate::Crate;
use crate::name;
use crate::types;

/// The keys about a table.
#[derive(Default)]
pub(super) struct TableKeys {
    /// The table, by each key that names one.
    tables: Vec<(Ident, LitStr)>,
    /// The column with the `id` of the view.
    key: Option<LitStr>,
    /// The columns that identify an existing row.
    conflict: Vec<LitStr>,
    /// Whether an existing row is updated.
    on_conflict: Option<(Span, bool)>,
    /// Set if the client's filter selects the rows.
    by_filter: Option<Span>,
    /// The maximum number of rows that the filter may select.
    max_rows: Option<(Span, u32)>,
    /// Set if the filter may be empty.
    allow_empty_filter: Option<Span>,
}

/// A mutation of a table.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct TableWrite {
    verb: &'static str,
    table: String,
    key: String,
    conflict: Vec<String>,
    replaces: bool,
    /// Set if the client's filter selects the rows.
    filter: Option<ClientFilter>,
}

/// The bounds of a filter by which the client selects rows.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ClientFilter {
    /// The maximum number of rows, if there is one.
    max_rows: Option<u32>,
    allows_empty: bool,
}

impl TableKeys {
    /// Reads the value of one of the keys.
    pub(super) fn read(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match key.to_string().as_str() {
            "key" => self.read_key(key, input),
            "conflict" => self.read_conflict(key, input),
            "on_conflict" => self.read_on_conflict(key, input),
            "by" => self.read_by(key, input),
            "max_rows" => self.read_max_rows(key, input),
            "allow_empty_filter" => {
                keys::flag(key, input)?;
                self.allow_empty_filter = Some(key.span());
                Ok(())
            }
            _ => self.read_table(key, input),
        }
    }

    /// Reads the table behind `insert`, `update`, `upsert` or `delete`.
    fn read_table(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let table: LitStr = keys::value(key, input, "\"tb_product\"")?;
        self.tables.push((key.clone(), table));
        Ok(())
    }

    /// Reads the value of `key`.
    fn read_key(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        self.key = Some(keys::value(key, input, "\"pk_product\"")?);
        Ok(())
    }

    /// Reads the value of `conflict`: a column, or a list of them.
    fn read_conflict(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        // On a fork, because both readers expect the `=` themselves.
        let fork = input.fork();
        keys::equals(key, &fork, "\"sku\"")?;
        self.conflict = match fork.peek(syn::token::Bracket) {
            true => keys::list(key, input, "\"sku\"")?,
            false => vec![keys::value(key, input, "\"sku\"")?],
        };

        match self.conflict.is_empty() {
            true => Err(syn::Error::new(
                key.span(),
                "name at least one column, as in `conflict = \"sku\"`",
            )),
            false => Ok(()),
        }
    }

    /// Reads the value of `on_conflict`.
    fn read_on_conflict(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let word: Ident = keys::value(key, input, "nothing")?;
        let replaces = match word.to_string().as_str() {
            "update" => true,
            "nothing" => false,
            _ => {
                return Err(syn::Error::new(
                    word.span(),
                    "`on_conflict` is `update` or `nothing`",
                ));
            }
        };

        self.on_conflict = Some((word.span(), replaces));

        Ok(())
    }

    /// Reads the value of `by`.
    fn read_by(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let word: Ident = keys::value(key, input, "filter")?;
        if word != "filter" {
            return Err(syn::Error::new(
                word.span(),
                "`by` is `filter`; without it, the arguments select one row",
            ));
        }

        self.by_filter = Some(key.span());

        Ok(())
    }

    /// Reads the value of `max_rows`.
    fn read_max_rows(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let most: LitInt = keys::value(key, input, "50")?;
        match most.base10_parse::<u32>() {
            Ok(rows @ 1..) => {
                self.max_rows = Some((key.span(), rows));
                Ok(())
            }
            _ => Err(syn::Error::new(
                most.span(),
                "`max_rows` is a number of rows from 1, such as `max_rows = 50`",
            )),
        }
    }

    /// The mutation of a table described by the keys, if any.
    pub(super) fn write(&self) -> Option<TableWrite> {
        let (verb, table) = self.tables.first()?;
        let verb = match verb.to_string().as_str() {
            "insert" => "Insert",
            "update" => "Update",
            "upsert" => "Upsert",
            _ => "Delete",
        };

        Some(TableWrite {
            verb,
            table: table.value(),
            key: self
                .key
                .as_ref()
                .map_or_else(|| "id".to_owned(), LitStr::value),
            conflict: self.conflict.iter().map(LitStr::value).collect(),
            // An upsert updates the existing row unless the source says otherwise.
            replaces: self.on_conflict.is_none_or(|(_, replaces)| replaces),
            filter: self.by_filter.map(|_| ClientFilter {
                max_rows: self.max_rows.map(|(_, most)| most),
                allows_empty: self.allow_empty_filter.is_some(),
            }),
        })
    }

    /// Reports keys that do not fit together.
    pub(super) fn check(
        &self,
        other: Option<&LitStr>,
        has_body: bool,
        params: &Parameters,
        errors: &mut Errors,
    ) {
        let Some((verb, table)) = self.tables.first() else {
            return self.check_without_table(errors);
        };

        name::check_table(verb, table, errors);

        for (second, _) in self.tables.iter().skip(1) {
            errors.push(syn::Error::new(
                second.span(),
                format!("a mutation does one thing; keep `{verb}` or `{second}`"),
            ));
        }

        if let Some(function) = other {
            errors.at(
                function,
                format!(
                    "a mutation calls a function or writes to a table; keep `function` or `{verb}`"
                ),
            );
        }

        if has_body {
            errors.at(
                table,
                "a mutation has a body or writes to a table; write `;` instead of the body, or \
                 remove this",
            );
        }

        self.check_conflict(verb, errors);
        self.check_filter(Some(verb), errors);
        let advice = match (verb.to_string().as_str(), params.args().count()) {
            ("update", 0) if self.by_filter.is_some() => {
                "an update takes what is new of the rows, such as `input: ProductPatch`"
            }
            ("update" | "delete", _) if self.by_filter.is_some() => return,
            ("insert" | "upsert", 0) => {
                "there is nothing to write; take an input object, such as `input: NewProduct`"
            }
            ("update", 0 | 1) => {
                "an update takes what chooses the row and what is new of it, such as \
                 `id: Uuid, input: ProductPatch`"
            }
            ("delete", 0) => "nothing chooses the row; take its id, such as `id: Uuid`",
            _ => return,
        };

        errors.at(table, advice);
    }

    fn check_conflict(&self, verb: &Ident, errors: &mut Errors) {
        if verb != "upsert" {
            return self.refuse_conflict(errors);
        }
        if self.conflict.is_empty() {
            let message = "`upsert` needs the columns by which a row is there already; add \
                           `conflict = \"sku\"`";
            errors.push(syn::Error::new(verb.span(), message));
        }
    }

    fn refuse_conflict(&self, errors: &mut Errors) {
        let message =
            "only `upsert` looks whether a row is there already; remove this, or write `upsert`";
        if let Some(column) = self.conflict.first() {
            errors.at(column, message);
        }
        if let Some((span, _)) = self.on_conflict {
            errors.push(syn::Error::new(span, message));
        }
    }

    /// Reports `by` and its companions where no filter can select rows.
    fn check_filter(&self, verb: Option<&Ident>, errors: &mut Errors) {
        let selects = verb.is_some_and(|verb| verb == "update" || verb == "delete");
        if let (Some(span), false) = (self.by_filter, selects) {
            let message =
                "only `update` and `delete` write rows that a filter selects; remove this";
            errors.push(syn::Error::new(span, message));
        }

        if let (Some((span, _)), None) = (self.max_rows, self.by_filter) {
            let message = "this bounds the rows that a filter selects; add `by = filter`";
            errors.push(syn::Error::new(span, message));
        }

        if let (Some(span), None) = (self.allow_empty_filter, self.by_filter) {
            let message = "this is about the filter that selects rows; add `by = filter`";
            errors.push(syn::Error::new(span, message));
        }
    }

    fn check_without_table(&self, errors: &mut Errors) {
        self.refuse_conflict(errors);
        self.check_filter(None, errors);
        if let Some(key) = &self.key {
            errors.at(
                key,
                "this is the key of a table that is written; add `insert = \"tb_product\"` or one \
                 of its kind",
            );
        }
    }
}

impl TableWrite {
    /// The `Run` of the mutation.
    pub(super) fn tokens(
        &self,
        krate: &Crate,
        params: &Parameters,
        output: &Type,
        checks: &TokenStream,
        place: &TokenStream,
    ) -> TokenStream {
        let Self {
            verb,
            table,
            key,
            conflict,
            replaces,
            filter,
        } = self;

        let verb = format_ident!("{verb}");
        let by = match filter {
            None => quote!(Arguments),
            Some(filter) => filter.tokens(),
        };

        let outside = types::outside(output, None);
        let lists = params.args().map(|arg| {
            let ty = types::outside(&arg.ty, None);
            quote_spanned!(types::span(&arg.ty)=> <#ty as #krate::Input>::IS_LIST)
        });
        let rows = quote_spanned! {types::span(output)=>
            .answering(&[#(#lists),*], <#outside as #krate::WrittenReturn>::ROWS)
        };

        quote!(#krate::Run::Write(#krate::WriteMeta {
            verb: #krate::WriteVerb::#verb,
            table: #table,
            key: #key,
            conflict: &[#(#conflict),*],
            replaces: #replaces,
            by: #krate::RowChoice::#by,
            checks: #checks,
            place: #place,
        } #rows))
    }
}

impl ClientFilter {
    /// The variant of `RowChoice`.
    fn tokens(self) -> TokenStream {
        let max_rows = match self.max_rows {
            None => quote!(None),
            Some(most) => quote!(Some(#most)),
        };
        let allows_empty = self.allows_empty;

        quote!(Filter {
            max_rows: ::core::option::Option::#max_rows,
            allows_empty: #allows_empty,
        })
    }
}
