//! The keys of `#[svc_type]` on a struct and of `#[svc]` on its fields.

use proc_macro2::TokenStream;
use syn::{Attribute, LitStr, Path};

use crate::errors::Errors;
use crate::keys::{self, Keys};
use crate::krate::Crate;

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
}

/// Reads the macro's arguments.
pub(super) fn args(tokens: TokenStream, errors: &mut Errors) -> Args {
    let mut args = Args::default();
    let mut keys = Keys::new(&["sql_source", "name", "implements", "authorize_fields", "crate"]);
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

/// Takes our attributes off a field.
pub(super) fn field(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> FieldArgs {
    let mut args = FieldArgs::default();
    keys::read_svc(attrs, &["name", "stored", "skip"], errors, |key, input| {
        match key.to_string().as_str() {
            "name" => args.name = Some(keys::string(key, input)?),
            "stored" => args.stored = Some(keys::string(key, input)?),
            _ => args.skip = keys::flag(key, input)?,
        }
        Ok(())
    });
    args
}
