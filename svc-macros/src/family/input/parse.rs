//! The keys of `#[svc_input]`; its fields have the keys of arguments.

use proc_macro2::TokenStream;
use syn::LitStr;

use crate::errors::Errors;
use crate::keys::{self, Keys};
use crate::krate::Crate;

/// `#[svc_input(…)]`.
#[derive(Default)]
pub(super) struct Args {
    pub(super) name: Option<LitStr>,
    pub(super) krate: Crate,
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
