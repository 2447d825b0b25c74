//! The keys of `#[svc_enum]` and of `#[svc]` on its variants.

use proc_macro2::TokenStream;
use syn::{Attribute, LitStr};

use crate::errors::Errors;
use crate::keys::{self, Keys};
use crate::krate::Crate;

/// `#[svc_enum(…)]`.
#[derive(Default)]
pub(super) struct Args {
    pub(super) name: Option<LitStr>,
    pub(super) krate: Crate,
}

/// `#[svc(…)]` on a variant.
#[derive(Default)]
pub(super) struct VariantArgs {
    pub(super) name: Option<LitStr>,
    pub(super) stored: Option<LitStr>,
}

/// Reads the macro's arguments.
pub(super) fn args(tokens: TokenStream, errors: &mut Errors) -> Args {
    let mut args = Args::default();
    Keys::new(&["name", "crate"]).read(tokens, errors, |key, input| {
        match key.to_string().as_str() {
            "name" => args.name = Some(keys::string(key, input)?),
            _ => args.krate = keys::krate(key, input)?,
        }
        Ok(())
    });

    args
}

/// Removes our attributes from a variant.
pub(super) fn variant(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> VariantArgs {
    let mut args = VariantArgs::default();
    keys::refuse_relation(attrs, errors);
    keys::read_svc(attrs, &["name", "stored"], errors, |key, input| {
        match key.to_string().as_str() {
            "name" => args.name = Some(keys::string(key, input)?),
            _ => args.stored = Some(keys::string(key, input)?),
        }
        Ok(())
    });

    args
}
