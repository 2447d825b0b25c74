//! The keys of `#[svc::test]`.

use proc_macro2::TokenStream;
use syn::parse::ParseStream;
use syn::{Expr, ExprLit, Ident, Lit, LitStr, token};

use crate::errors::Errors;
use crate::keys::{self, Keys};
use crate::krate::Crate;

/// `#[svc::test(…)]`.
#[derive(Default)]
pub(super) struct Args {
    /// Files and folders.
    pub(super) setup: Vec<LitStr>,
    pub(super) sql: Option<Expr>,
    pub(super) role: Option<Expr>,
    pub(super) krate: Crate,
}

/// Reads the macro's arguments.
pub(super) fn args(tokens: TokenStream, errors: &mut Errors) -> Args {
    let mut args = Args::default();
    Keys::new(&["setup", "sql", "role", "crate"])
        .instead_of(
            &["migrations", "migrator", "fixtures"],
            "write `setup = [\"db/schema\", \"db/migrations\"]`",
        )
        .read(tokens, errors, |key, input| {
            match key.to_string().as_str() {
                "setup" => args.setup = paths(key, input)?,
                "sql" => args.sql = Some(keys::value(key, input, "SCHEMA")?),
                "role" => args.role = Some(role(keys::value(key, input, "\"app\"")?)?),
                _ => args.krate = keys::krate(key, input)?,
            }
            Ok(())
        });

    args
}

/// A path, or a list of them.
fn paths(key: &Ident, input: ParseStream<'_>) -> syn::Result<Vec<LitStr>> {
    // On a fork, because both readers expect the `=` themselves.
    let ahead = input.fork();
    ahead.parse::<Option<syn::Token![=]>>()?;
    match ahead.peek(token::Bracket) {
        true => keys::list(key, input, "\"db/schema\", \"db/migrations\""),
        false => keys::value(key, input, "\"db/schema\"").map(|path| vec![path]),
    }
}

/// The name of a role; checked if it is a literal.
fn role(name: Expr) -> syn::Result<Expr> {
    let Expr::Lit(ExprLit {
        lit: Lit::Str(text),
        ..
    }) = &name
    else {
        return Ok(name);
    };

    let value = text.value();
    let begins = value.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    match begins
        && value
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    {
        true => Ok(name),
        false => Err(syn::Error::new(
            text.span(),
            "a role of tests has lower-case letters, digits and `_`, as `\"app\"` has",
        )),
    }
}
