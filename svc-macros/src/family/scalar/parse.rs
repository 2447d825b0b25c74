//! The keys of `#[svc_scalar]` and the `impl` block.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Generics, LitStr, Path, Token, Type};

use crate::errors::Errors;
use crate::keys::{self, Keys};
use crate::krate::Crate;

/// `#[svc_scalar(…)]`.
#[derive(Default)]
pub(super) struct Args {
    pub(super) name: Option<LitStr>,
    pub(super) specified_by: Option<LitStr>,
    pub(super) sql_type: Option<LitStr>,
    pub(super) krate: Crate,
}

/// `impl ScalarType for Slug`, and the body, which is kept as unparsed tokens.
pub(super) struct Block {
    pub(super) attrs: Vec<Attribute>,
    /// Including the `where` clause.
    pub(super) generics: Generics,
    pub(super) of: Path,
    pub(super) ty: Type,
    pub(super) body: TokenStream,
}

/// Reads the macro's arguments.
pub(super) fn args(tokens: TokenStream, errors: &mut Errors) -> Args {
    let mut args = Args::default();
    Keys::new(&["name", "specified_by", "sql_type", "crate"]).read(tokens, errors, |key, input| {
        match key.to_string().as_str() {
            "name" => args.name = Some(keys::string(key, input)?),
            "specified_by" => args.specified_by = Some(keys::string(key, input)?),
            "sql_type" => args.sql_type = Some(keys::string(key, input)?),
            _ => args.krate = keys::krate(key, input)?,
        }
        Ok(())
    });

    args
}

impl Parse for Block {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let instead = "`#[svc_scalar]` goes on an `impl ScalarType for …`";
        let Ok(token) = input.parse::<Token![impl]>() else {
            return Err(syn::Error::new(proc_macro2::Span::call_site(), instead));
        };

        let mut generics: Generics = input.parse()?;
        let Ok(of) = input.parse::<Path>() else {
            return Err(syn::Error::new(token.span, instead));
        };
        if input.parse::<Option<Token![for]>>()?.is_none() {
            return Err(syn::Error::new_spanned(of, instead));
        }

        let ty = input.parse()?;
        generics.where_clause = input.parse()?;

        Ok(Self {
            attrs,
            generics,
            of,
            ty,
            body: input.parse()?,
        })
    }
}
