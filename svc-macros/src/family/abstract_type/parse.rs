//! The keys of `#[svc_interface]` and `#[svc_union]`.

use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, LitStr, Token, Type, parenthesized, token};

use crate::errors::Errors;
use crate::keys::{self, Keys};
use crate::krate::Crate;

/// `#[svc_interface(…)]` or `#[svc_union(…)]`.
#[derive(Default)]
pub(super) struct Args {
    pub(super) sql_source: Option<LitStr>,
    pub(super) name: Option<LitStr>,
    /// The fields of an interface; `None` for a union.
    pub(super) fields: Option<Vec<Promise>>,
    pub(super) krate: Crate,
    /// The description of the members, if this is a mutation's result.
    pub(super) result: Option<TokenStream>,
}

/// A field of an interface: `/// doc` `#[svc(name = "x")]` `id: Uuid`.
pub(super) struct Promise {
    pub(super) attrs: Vec<Attribute>,
    pub(super) ident: Ident,
    pub(super) ty: Type,
}

impl Parse for Promise {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let ident = Ident::parse_any(input)?;
        if input.parse::<Option<Token![:]>>()?.is_none() {
            return Err(syn::Error::new(
                ident.span(),
                format!("a promised field has a type; write `{ident}: Uuid`"),
            ));
        }

        Ok(Self {
            attrs,
            ident,
            ty: input.parse()?,
        })
    }
}

/// Reads the arguments of an interface.
pub(super) fn interface(tokens: TokenStream, errors: &mut Errors) -> Args {
    let mut args = read(
        Keys::new(&["sql_source", "name", "fields", "crate"]),
        tokens,
        errors,
    );

    if args.fields.is_none() {
        // After another mistake, the fields may be present and unreadable.
        if errors.is_empty() {
            errors.push(missing(proc_macro2::Span::call_site()));
        }
        // Without a list, the model would take the enum for a union.
        args.fields = Some(Vec::new());
    }

    args
}

/// Reads the arguments of a union.
pub(super) fn union(tokens: TokenStream, errors: &mut Errors) -> Args {
    let keys = Keys::new(&["sql_source", "name", "crate"]);
    read(
        keys.instead_of(
            &["fields"],
            "a union promises no fields; remove this, or use `#[svc_interface]`",
        ),
        tokens,
        errors,
    )
}

/// Removes our attributes from a field of an interface.
pub(super) fn promise(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Option<LitStr> {
    let mut name = None;
    keys::refuse_relation(attrs, errors);
    keys::read_svc(attrs, &["name"], errors, |key, input| {
        name = Some(keys::string(key, input)?);
        Ok(())
    });
    name
}

fn read(mut keys: Keys, tokens: TokenStream, errors: &mut Errors) -> Args {
    let mut args = Args::default();
    keys.read(tokens, errors, |key, input| {
        match key.to_string().as_str() {
            "sql_source" => args.sql_source = Some(keys::string(key, input)?),
            "name" => args.name = Some(keys::string(key, input)?),
            "fields" => args.fields = Some(fields(key, input)?),
            _ => args.krate = keys::krate(key, input)?,
        }
        Ok(())
    });

    args
}

fn fields(key: &Ident, input: ParseStream<'_>) -> syn::Result<Vec<Promise>> {
    if !input.peek(token::Paren) {
        return Err(syn::Error::new(
            key.span(),
            "`fields` takes its fields in parentheses; write `fields(id: Uuid, …)`",
        ));
    }

    let content;
    parenthesized!(content in input);
    if content.is_empty() {
        return Err(missing(key.span()));
    }

    Ok(
        Punctuated::<Promise, Token![,]>::parse_terminated(&content)?
            .into_iter()
            .collect(),
    )
}

fn missing(span: proc_macro2::Span) -> syn::Error {
    syn::Error::new(
        span,
        "an interface promises fields; write `fields(id: Uuid, …)`, or use `#[svc_union]`",
    )
}
