//! The keys of `#[svc::query]` and `#[svc::mutation]`, and the function.

use proc_macro2::{Ident, Span, TokenStream};
use syn::parse::ParseStream;
use syn::{Item, LitStr, Path};

use super::model::Kind;
use crate::errors::Errors;
use crate::function::Function;
use crate::keys::{self, Keys};
use crate::krate::Crate;

/// `#[svc::query(…)]` or `#[svc::mutation(…)]`.
#[derive(Default)]
pub(super) struct Args {
    pub(super) name: Option<LitStr>,
    /// The function of the database that a mutation without a body calls.
    pub(super) function: Option<LitStr>,
    /// The values of the request that the function gets before the arguments.
    pub(super) context: Vec<LitStr>,
    /// The fate of a call with a failing status.
    pub(super) on_failure: Option<(Span, OnFailure)>,
    /// The authorizer that decides in place of the application's.
    pub(super) authorizer: Option<Path>,
    pub(super) krate: Crate,
}

/// `on_failure = …`.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum OnFailure {
    #[default]
    Rollback,
    Commit,
}

impl OnFailure {
    fn read(input: ParseStream<'_>) -> syn::Result<(Span, Self)> {
        let (span, word) = if input.peek(LitStr) {
            let word: LitStr = input.parse()?;
            (word.span(), word.value())
        } else {
            let word: Ident = input.parse()?;
            (word.span(), word.to_string())
        };
        match word.as_str() {
            "rollback" => Ok((span, Self::Rollback)),
            "commit" => Ok((span, Self::Commit)),
            _ => Err(syn::Error::new(span, "`on_failure` is `rollback` or `commit`")),
        }
    }
}

/// Reads the macro's arguments.
pub(super) fn args(kind: Kind, tokens: TokenStream, errors: &mut Errors) -> Args {
    let mut args = Args::default();
    let mut keys = match kind {
        Kind::Query => Keys::new(&["name", "authorizer", "crate"]).instead_of(
            &["function", "context", "on_failure"],
            "a query reads views; only `#[svc::mutation]` calls a function",
        ),
        Kind::Mutation => Keys::new(&["name", "function", "context", "on_failure", "authorizer", "crate"]),
    };
    keys.read(tokens, errors, |key, input| {
        match key.to_string().as_str() {
            "name" => args.name = Some(keys::string(key, input)?),
            "function" => args.function = Some(keys::string(key, input)?),
            "context" => args.context = keys::list(key, input, "\"tenant_id\"")?,
            "on_failure" => {
                keys::equals(key, input, "commit")?;
                args.on_failure = Some(OnFailure::read(input)?);
            }
            "authorizer" => {
                keys::equals(key, input, "admins_only")?;
                args.authorizer = Some(input.parse()?);
            }
            _ => args.krate = keys::krate(key, input)?,
        }
        Ok(())
    });
    args
}

/// Reads the function; another item gets a better message than its first unexpected token.
pub(super) fn function(kind: Kind, item: TokenStream, errors: &mut Errors) -> Option<Function> {
    let error = match syn::parse2(item.clone()) {
        Ok(function) => return Some(function),
        Err(error) => error,
    };
    match syn::parse2::<Item>(item) {
        Ok(Item::Fn(_) | Item::Verbatim(_)) | Err(_) => errors.push(error),
        Ok(_) => {
            let attribute = kind.attribute();
            errors.push(syn::Error::new(
                Span::call_site(),
                format!("`#[{attribute}]` goes on a function, such as `async fn users() -> Vec<User>`"),
            ));
        }
    }
    None
}
