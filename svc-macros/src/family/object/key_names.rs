//! The names of the keys at one end of a relation: `from = "product_id"`, or several in a list.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, TokenStreamExt as _, quote};
use syn::parse::ParseStream;
use syn::{LitStr, token};

use super::parse::RelationArgs;
use crate::errors::Errors;
use crate::keys;

/// `key = "…"`, or `key = ["…", "…"]`.
pub(super) struct KeyNames {
    names: Vec<LitStr>,
}

impl KeyNames {
    /// Reads the names behind a key.
    pub(super) fn read(key: &Ident, input: ParseStream<'_>) -> syn::Result<Self> {
        let is_list = input.peek2(token::Bracket);
        let names = if is_list {
            keys::list(key, input, "\"…\", \"…\"")?
        } else {
            vec![keys::string(key, input)?]
        };

        let empty = names
            .iter()
            .find(|name: &&LitStr| name.value().is_empty())
            .map(LitStr::span);

        match empty.or_else(|| names.is_empty().then(|| key.span())) {
            Some(span) => Err(syn::Error::new(
                span,
                format!("`{key}` is empty; name a column or a JSON key"),
            )),
            None => Ok(Self { names }),
        }
    }

    /// The names in generated code.
    pub(super) fn tokens(&self) -> TokenStream {
        let names = &self.names;
        quote!(&[#(#names),*])
    }
}

/// The names alone, to locate errors.
impl ToTokens for KeyNames {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.append_all(&self.names);
    }
}

/// Reports unequal counts: each key is compared with the key at the same position at the other end.
pub(super) fn check_counts(args: &RelationArgs, errors: &mut Errors) {
    let RelationArgs {
        from,
        to,
        through,
        here,
        there,
        ..
    } = args;

    match through {
        None => check_pair(("from", from.as_ref()), ("to", to.as_ref()), errors),
        Some(_) => {
            check_pair(("from", from.as_ref()), ("here", here.as_ref()), errors);
            check_pair(("there", there.as_ref()), ("to", to.as_ref()), errors);
        }
    }
}

fn check_pair(
    (name, one): (&str, Option<&KeyNames>),
    (other_name, other): (&str, Option<&KeyNames>),
    errors: &mut Errors,
) {
    // An omitted key has one default name.
    let count = |names: Option<&KeyNames>| names.map_or(1, |names| names.names.len());
    let (Some(given), true) = (other.or(one), count(one) != count(other)) else {
        return;
    };

    errors.at(
        given,
        format!(
            "`{name}` names {} and `{other_name}` {}, but each key is compared with the one in its \
             place; write as many in both, such as `{name} = [\"tenant_id\", \"product_id\"], \
             {other_name} = [\"tenant_id\", \"id\"]`",
            keys_of(count(one)),
            count(other),
        ),
    );
}

fn keys_of(count: usize) -> String {
    if count == 1 {
        "1 key".to_owned()
    } else {
        format!("{count} keys")
    }
}
