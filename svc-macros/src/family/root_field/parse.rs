//! The keys of `#[svc::query]` and its siblings, and the function.

use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Item, LitStr, Path, parenthesized};

use super::caching::Caching;
use super::model::Kind;
use super::table::TableKeys;
use crate::errors::Errors;
use crate::function::Function;
use crate::keys::{self, DefaultOrder, Keys, RateLimit};
use crate::krate::Crate;

/// `#[svc::query(…)]` or one of its siblings.
#[derive(Default)]
pub(super) struct Args {
    pub(super) name: Option<LitStr>,
    /// The function of the database that a mutation without a body calls, or that returns the rows
    /// of a query.
    pub(super) function: Option<LitStr>,
    /// The SQL that returns the rows of a query without a body.
    pub(super) sql: Option<LitStr>,
    /// The channel whose events name the rows of a subscription without a body.
    pub(super) channel: Option<LitStr>,
    /// The values of the request passed to the function before the arguments.
    pub(super) context: Vec<LitStr>,
    /// The handling of a call with a failing status.
    pub(super) on_failure: Option<(Span, OnFailure)>,
    /// The table that a mutation without a body writes.
    pub(super) table: TableKeys,
    /// The row that the mutation acts on.
    pub(super) acts_on: Option<TargetRow>,
    /// The authorizer that replaces the application's.
    pub(super) authorizer: Option<Path>,
    /// The field's own rate limit.
    pub(super) rate_limit: Option<RateLimit>,
    pub(super) caching: Caching,
    /// Set if clients may run the mutation in one transaction with others.
    pub(super) atomic: Option<Span>,
    /// The order of rows if the client requests none.
    pub(super) order_by: Option<DefaultOrder>,
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
            _ => Err(syn::Error::new(
                span,
                "`on_failure` is `rollback` or `commit`",
            )),
        }
    }
}

/// `acts_on = Post(id)`: a type of rows, and the argument that holds a row's id.
pub(super) struct TargetRow {
    pub(super) row: Path,
    pub(super) id: Ident,
}

impl Parse for TargetRow {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let row = input.call(Path::parse_mod_style)?;
        if !input.peek(syn::token::Paren) {
            let message =
                "the argument that holds the row's id is missing; write `acts_on = Post(id)`";
            return Err(syn::Error::new_spanned(row, message));
        }

        let content;
        parenthesized!(content in input);
        let id = content.call(Ident::parse_any)?;
        let rest: TokenStream = content.parse()?;

        match rest.is_empty() {
            true => Ok(Self { row, id }),
            false => Err(syn::Error::new_spanned(
                rest,
                "a row has one id; write `acts_on = Post(id)`",
            )),
        }
    }
}

/// The keys of a kind of root field.
fn keys_of(kind: Kind) -> Keys {
    match kind {
        Kind::Query => Keys::new(&[
            "name",
            "function",
            "sql",
            "context",
            "order_by",
            "authorizer",
            "rate_limit",
            "cache",
            "reads",
            "crate",
        ])
        .instead_of(
            &["on_failure", "acts_on", "atomic"],
            "a query writes nothing; only `#[svc::mutation]` does",
        ),
        Kind::Subscription => Keys::new(&["name", "channel", "authorizer", "rate_limit", "crate"])
            .instead_of(
                &["function", "context", "on_failure", "acts_on"],
                "a subscription calls no function of the database; only `#[svc::mutation]` does",
            ),
        Kind::Mutation => Keys::new(&[
            "name",
            "function",
            "context",
            "on_failure",
            "acts_on",
            "atomic",
            "insert",
            "update",
            "upsert",
            "delete",
            "key",
            "conflict",
            "on_conflict",
            "by",
            "max_rows",
            "allow_empty_filter",
            "authorizer",
            "rate_limit",
            "invalidates",
            "crate",
        ])
        .instead_of(
            &["query"],
            "the field `query` belongs to the success of a result; return an enum with `#[svc_result(query)]`",
        ),
    }
}

/// Reads the macro's arguments.
pub(super) fn args(kind: Kind, tokens: TokenStream, errors: &mut Errors) -> Args {
    let mut args = Args::default();
    let mut keys = keys_of(kind);
    keys.read(tokens, errors, |key, input| {
        match key.to_string().as_str() {
            "name" => args.name = Some(keys::string(key, input)?),
            "function" => args.function = Some(keys::string(key, input)?),
            "sql" => args.sql = Some(keys::string(key, input)?),
            "channel" => args.channel = Some(keys::string(key, input)?),
            "context" => args.context = keys::list(key, input, "\"tenant_id\"")?,
            "on_failure" => {
                keys::equals(key, input, "commit")?;
                args.on_failure = Some(OnFailure::read(input)?);
            }
            "acts_on" => {
                keys::equals(key, input, "Post(id)")?;
                args.acts_on = Some(input.parse()?);
            }
            "atomic" => args.atomic = Some(read_atomic(key, input)?),
            "insert" | "update" | "upsert" | "delete" | "key" | "conflict" | "on_conflict"
            | "by" | "max_rows" | "allow_empty_filter" => args.table.read(key, input)?,
            "authorizer" => {
                keys::equals(key, input, "admins_only")?;
                args.authorizer = Some(input.parse()?);
            }
            "rate_limit" => args.rate_limit = Some(RateLimit::read(key, input)?),
            "order_by" => args.order_by = Some(DefaultOrder::read(key, input)?),
            "cache" => args.caching.read_seconds(key, input)?,
            "reads" | "invalidates" => args.caching.read_types(key, input)?,
            _ => args.krate = keys::krate(key, input)?,
        }

        Ok(())
    });

    args
}

/// Reads `atomic`, which has no value.
fn read_atomic(key: &Ident, input: ParseStream<'_>) -> syn::Result<Span> {
    // The usual advice would turn `atomic = false` into its opposite.
    let message = "`atomic` takes no value; write `atomic` alone, or remove it to keep the \
                   mutation out of operations with `@atomic`";
    match keys::flag(key, input) {
        Ok(_) => Ok(key.span()),
        Err(error) => Err(syn::Error::new(error.span(), message)),
    }
}

/// Reads the function; for another item, reports a better message than its first unexpected token.
pub(super) fn function(kind: Kind, item: TokenStream, errors: &mut Errors) -> Option<Function> {
    let error = match syn::parse2(item.clone()) {
        Ok(function) => return Some(function),
        Err(error) => error,
    };

    match syn::parse2::<Item>(item) {
        // `Verbatim` is also a function without a body, in which the first error is the mistake.
        Ok(Item::Fn(_) | Item::Verbatim(_)) | Err(_) => errors.push(error),
        Ok(_) => {
            let (attribute, example) = (kind.attribute(), kind.example());
            errors.push(syn::Error::new(
                Span::call_site(),
                format!("`#[{attribute}]` goes on a function, such as `{example}`"),
            ));
        }
    }

    None
}
