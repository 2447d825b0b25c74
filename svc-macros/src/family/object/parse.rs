//! The keys of `#[svc_type]` on a struct and of `#[svc]` on its fields.

use proc_macro2::{Ident, TokenStream};
use syn::parse::ParseStream;
use syn::{Attribute, LitStr, Meta, Path, Token};

use super::joining::Joining;
use super::key_names::{self, KeyNames};
use crate::errors::Errors;
use crate::keys::{self, DefaultOrder, Keys};
use crate::krate::Crate;
use crate::name;

/// `#[svc_type(…)]`.
#[derive(Default)]
pub(super) struct Args {
    pub(super) sql_source: Option<LitStr>,
    pub(super) name: Option<LitStr>,
    pub(super) implements: Vec<Path>,
    pub(super) authorize_fields: Vec<LitStr>,
    pub(super) krate: Crate,
}

/// `#[svc(…)]` on a field.
#[derive(Default)]
pub(super) struct FieldArgs {
    pub(super) name: Option<LitStr>,
    pub(super) stored: Option<LitStr>,
    pub(super) skip: bool,
    pub(super) non_null: bool,
    pub(super) relation: Option<RelationArgs>,
}

/// `#[relation(…)]` on a field.
#[derive(Default)]
pub(super) struct RelationArgs {
    pub(super) from: Option<KeyNames>,
    pub(super) to: Option<KeyNames>,
    pub(super) order_by: Option<DefaultOrder>,
    pub(super) through: Option<Joining>,
    /// The keys of this side in the join view.
    pub(super) here: Option<KeyNames>,
    /// The keys of the rows in the join view.
    pub(super) there: Option<KeyNames>,
    /// The page of the rows, and the aggregates over them, if offered.
    pub(super) connection: Option<Beside>,
    pub(super) aggregate: Option<Beside>,
}

impl RelationArgs {
    /// Reads the value of one of the keys.
    fn read(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match key.to_string().as_str() {
            "from" => self.from = Some(KeyNames::read(key, input)?),
            "to" => self.to = Some(KeyNames::read(key, input)?),
            "order_by" => self.order_by = Some(DefaultOrder::read(key, input)?),
            "through" => self.through = Some(Joining::read(key, input)?),
            "here" => self.here = Some(KeyNames::read(key, input)?),
            "connection" => self.connection = Some(Beside::read(key, input)?),
            "aggregate" => self.aggregate = Some(Beside::read(key, input)?),
            _ => self.there = Some(KeyNames::read(key, input)?),
        }

        Ok(())
    }
}

/// An extra field derived from a relation.
pub(super) struct Beside {
    pub(super) key: Ident,
    /// Its GraphQL name, if given.
    pub(super) name: Option<LitStr>,
}

impl Beside {
    /// Reads `connection`, or `connection = "…"`.
    fn read(key: &Ident, input: ParseStream<'_>) -> syn::Result<Self> {
        let name = if input.peek(Token![=]) {
            Some(keys::string(key, input)?)
        } else {
            None
        };

        Ok(Self {
            key: key.clone(),
            name,
        })
    }
}

/// Reads the macro's arguments.
pub(super) fn args(tokens: TokenStream, errors: &mut Errors) -> Args {
    let mut args = Args::default();
    let mut keys = Keys::new(&[
        "sql_source",
        "name",
        "implements",
        "authorize_fields",
        "crate",
    ])
    .instead_of(
        &["query"],
        "an object is read in other places than mutations too; return it in an `#[svc_result(query)]`, whose success \
         has the field `query`",
    );

    keys.read(tokens, errors, |key, input| {
        match key.to_string().as_str() {
            "sql_source" => args.sql_source = Some(keys::string(key, input)?),
            "name" => args.name = Some(keys::string(key, input)?),
            "implements" => args.implements = keys::list(key, input, "Node")?,
            "authorize_fields" => args.authorize_fields = keys::list(key, input, "\"email\"")?,
            _ => args.krate = keys::krate(key, input)?,
        }
        Ok(())
    });

    args
}

/// Removes our attributes from a field.
pub(super) fn field(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> FieldArgs {
    let mut args = FieldArgs::default();
    keys::read_svc(
        attrs,
        &["name", "stored", "skip", "non_null"],
        errors,
        |key, input| {
            match key.to_string().as_str() {
                "name" => args.name = Some(keys::string(key, input)?),
                "stored" => args.stored = Some(keys::string(key, input)?),
                "skip" => args.skip = keys::flag(key, input)?,
                _ => args.non_null = keys::flag(key, input)?,
            }
            Ok(())
        },
    );

    args.relation = relation(attrs, errors);

    args
}

fn relation(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Option<RelationArgs> {
    let mut found = None;
    let mut keys = Keys::new(&[
        "from",
        "to",
        "through",
        "here",
        "there",
        "order_by",
        "connection",
        "aggregate",
    ]);

    // All attributes share the keys, so that a key in two of them is reported.
    for attr in attrs.extract_if(.., |attr| attr.path().is_ident("relation")) {
        let args: &mut RelationArgs = found.get_or_insert_default();
        match attr.meta {
            Meta::Path(_) => {}
            Meta::List(list) => {
                keys.read(list.tokens, errors, |key, input| args.read(key, input));
            }
            Meta::NameValue(other) => {
                let instead = "write `#[relation]` or `#[relation(from = \"…\", to = \"…\")]`";
                errors.at(
                    &other,
                    format!("`#[relation]` takes its keys in parentheses; {instead}"),
                );
            }
        }
    }

    if let Some(args) = &found {
        check_through(args, errors);
        key_names::check_counts(args, errors);
        let beside = [&args.connection, &args.aggregate].into_iter().flatten();
        beside
            .filter_map(|beside| beside.name.as_ref())
            .for_each(|name| name::check_given(name, errors));
    }

    found
}

/// A join view needs two keys, which mean nothing without it.
fn check_through(
    RelationArgs {
        through,
        here,
        there,
        ..
    }: &RelationArgs,
    errors: &mut Errors,
) {
    let example =
        "`through = \"v_product_category\", here = \"product_id\", there = \"category_id\"`";
    match (through, here, there) {
        (Some(through), Some(_), Some(_)) => through.check(errors),
        (Some(through), ..) => {
            let message = "name the keys of the view that joins: `here`, that of this side, and \
                           `there`, that of the rows";
            errors.at(through, format!("{message}; write {example}"));
        }
        (None, Some(key), _) | (None, None, Some(key)) => {
            errors.at(
                key,
                format!(
                    "this is a key of a view that joins two others; write {example}, or remove it"
                ),
            );
        }
        (None, None, None) => {}
    }
}
