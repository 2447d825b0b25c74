//! `function` and `sql` of a query without a body: rows of a view that come from another source.

use proc_macro2::TokenStream;
use quote::quote;
use syn::LitStr;

use super::parse::Args;
use crate::errors::Errors;
use crate::krate::Crate;
use crate::name;

/// The source of the rows, instead of the view.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum RowSource {
    /// The function of the database with this name.
    Function(String),
    /// A statement with the arguments as `$1`, `$2` and so on.
    Sql(String),
}

/// The source named by the keys, if any.
pub(super) fn source(args: &Args) -> Option<RowSource> {
    match (&args.function, &args.sql) {
        (Some(name), _) => Some(RowSource::Function(name.value())),
        (None, Some(sql)) => Some(RowSource::Sql(sql.value())),
        (None, None) => None,
    }
}

/// Reports keys that do not fit together. `params` is the number of arguments.
pub(super) fn check(args: &Args, has_body: bool, params: usize, errors: &mut Errors) {
    let (function, sql) = (args.function.as_ref(), args.sql.as_ref());
    if let (Some(key), true) = (function.or(sql), has_body) {
        errors.at(
            key,
            "a query has a body or reads rows from this; write `;` instead of the body, or remove \
             this",
        );
    }

    if let (Some(_), Some(sql)) = (function, sql) {
        errors.at(sql, "rows come from one place; keep `function` or `sql`");
    }

    if let (None, None, Some(context)) = (function, sql, args.context.first()) {
        errors.at(
            context,
            "only a function or SQL gets these; add `function = \"schema.name\"` or \
             `sql = \"SELECT …\"`",
        );
    }

    if let Some(function) = function {
        name::check_function(function, errors);
    }

    if let Some(sql) = sql {
        // The values of `context` are bound before the arguments.
        check_sql(sql, args.context.len() + params, errors);
    }
}

/// Checks that each value is used and that each placeholder has a value: svc binds the client's
/// values after them.
fn check_sql(sql: &LitStr, values: usize, errors: &mut Errors) {
    let text = sql.value();
    if text.trim().is_empty() || text.contains('\0') {
        return errors.at(
            sql,
            "this is no SQL; write `sql = \"SELECT … FROM v_place WHERE …\"`",
        );
    }

    // A `;` elsewhere may be in a text or a comment; PostgreSQL reports any other.
    if text.trim_end().ends_with(';') {
        return errors.at(
            sql,
            "the statement stands inside another one; remove the `;` at its end",
        );
    }

    let used = placeholders(&text);
    if let Some(number) = used.iter().find(|number| !(1..=values).contains(*number)) {
        let have = match values {
            0 => "there are no arguments".to_owned(),
            1 => "there is one argument".to_owned(),
            several => format!("there are {several} arguments"),
        };
        return errors.at(
            sql,
            format!("`${number}` stands for no argument: {have}, the first of which is `$1`"),
        );
    }

    if let Some(number) = (1..=values).find(|number| !used.contains(number)) {
        errors.at(
            sql,
            format!(
                "the SQL does not use argument {number}; write `${number}` where its value belongs"
            ),
        );
    }
}

/// The numbers after each `$`, including in quotes and comments: only PostgreSQL can distinguish
/// these, and a placeholder too many is reported.
fn placeholders(sql: &str) -> Vec<usize> {
    let behind = sql.split('$').skip(1);
    let digits = behind.map(|rest| {
        &rest[..rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len())]
    });
    digits.filter_map(|digits| digits.parse().ok()).collect()
}

impl RowSource {
    /// The call appended to the `PlannedMeta`.
    pub(super) fn tokens(
        &self,
        krate: &Crate,
        context: &[LitStr],
        checks: &TokenStream,
        place: &TokenStream,
    ) -> TokenStream {
        let (kind, text) = match self {
            Self::Function(name) => (quote!(Function), name),
            Self::Sql(sql) => (quote!(Sql), sql),
        };

        quote!(.reading_from(&const {
            #krate::RowSourceMeta {
                kind: #krate::RowSourceKind::#kind,
                text: #text,
                context: &[#(#context),*],
                checks: #checks,
                place: #place,
            }
        }))
    }
}
