//! The keys of `#[svc_result]`, and of `#[svc]` on its variants.

use proc_macro2::TokenStream;
use syn::{Attribute, LitStr};

use crate::errors::Errors;
use crate::keys::{self, Keys};
use crate::krate::Crate;

/// `#[svc_result(…)]`.
#[derive(Default)]
pub(super) struct Args {
    pub(super) name: Option<LitStr>,
    /// Whether the success has the field `query`.
    pub(super) query: bool,
    pub(super) krate: Crate,
}

/// Reads the macro's arguments.
pub(super) fn args(tokens: TokenStream, errors: &mut Errors) -> Args {
    let mut args = Args::default();
    let keys = Keys::new(&["name", "query", "crate"]);
    keys.instead_of(
        &["entity"],
        "write the entity as the first field of `Success`, as in `Success { user: User }`",
    )
    .read(tokens, errors, |key, input| {
        match key.to_string().as_str() {
            "name" => args.name = Some(keys::string(key, input)?),
            "query" => args.query = keys::flag(key, input)?,
            _ => args.krate = keys::krate(key, input)?,
        }
        Ok(())
    });

    args
}

/// Removes our attributes from a variant and returns the name of its type.
pub(super) fn variant(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Option<LitStr> {
    let mut name = None;
    keys::read_svc(attrs, &["name"], errors, |key, input| {
        name = Some(keys::string(key, input)?);
        Ok(())
    });
    name
}
