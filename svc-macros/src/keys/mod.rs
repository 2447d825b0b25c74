//! The keys of our attributes: `name = "…"`, `skip`, `implements = [A, B]`.

mod order;
mod rate_limit;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Attribute, LitStr, Meta, Path, Token, bracketed};

pub(crate) use self::order::DefaultOrder;
pub(crate) use self::rate_limit::RateLimit;
use crate::errors::Errors;
use crate::krate::{Crate, dependency};
use crate::nearest::nearest;

/// Reads lists of keys; a mistake in one key does not hide the next one.
pub(crate) struct Keys {
    valid: &'static [&'static str],
    elsewhere: (&'static [&'static str], &'static str),
    seen: Vec<Ident>,
}

impl Keys {
    /// Accepts only the `valid` keys, each once.
    pub(crate) fn new(valid: &'static [&'static str]) -> Self {
        Self {
            valid,
            elsewhere: (&[], ""),
            seen: Vec::new(),
        }
    }

    /// Users may write `keys` here by mistake; the error then gives `advice`.
    pub(crate) fn instead_of(
        mut self,
        keys: &'static [&'static str],
        advice: &'static str,
    ) -> Self {
        self.elsewhere = (keys, advice);
        self
    }

    /// Calls `read` after each key; it reads the key's value.
    pub(crate) fn read(
        &mut self,
        tokens: TokenStream,
        errors: &mut Errors,
        mut read: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
    ) {
        let parsed = (|input: ParseStream<'_>| {
            while !input.is_empty() {
                let read = if input.peek(LitStr) {
                    self.unnamed(input, &mut read)
                } else {
                    self.key(input)
                        .and_then(|key| read(&key, input))
                        .and_then(|()| separated(input))
                };

                if let Err(error) = read {
                    errors.push(error);
                    skip_to_comma(input)?;
                }

                input.parse::<Option<Token![,]>>()?;
            }

            Ok(())
        })
        .parse2(tokens);

        errors.ok(parsed);

        // After all keys, because `crate` may be the last one.
        self.check_crate(errors);
    }

    /// Reports an attribute without `crate = …` in a program that depends on svc under another
    /// name.
    fn check_crate(&self, errors: &mut Errors) {
        let is_missing =
            self.valid.contains(&"crate") && !self.seen.iter().any(|key| key == "crate");
        if let Some(message) = is_missing.then(dependency::message).flatten() {
            errors.push(syn::Error::new(Span::call_site(), message));
        }
    }

    /// A value without its key, as in `#[svc::mutation("app.create_user")]`. It is still read, so
    /// that it is not reported as missing too.
    fn unnamed(
        &mut self,
        input: ParseStream<'_>,
        read: &mut impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
    ) -> syn::Result<()> {
        // `function` is the usual value only for mutations.
        let is_usual = |key: &&str| *key != "function" || self.valid.contains(&"on_failure");
        let mut usual = ["function", "sql_source", "name"]
            .into_iter()
            .filter(is_usual);
        let Some(key) = usual.find(|key| self.valid.contains(key)) else {
            return Err(input.error(self.expected("expected a key")));
        };

        let value: LitStr = input.parse()?;
        let ident = Ident::new(key, value.span());
        let error = syn::Error::new(
            value.span(),
            format!("a value needs its key; write `{key} = {}`", value.token()),
        );
        if !self.seen.contains(&ident) {
            self.seen.push(ident.clone());

            // The reader expects the `=` that the source lacks.
            (|input: ParseStream<'_>| read(&ident, input)).parse2(quote!(= #value))?;
        }

        Err(error)
    }

    fn key(&mut self, input: ParseStream<'_>) -> syn::Result<Ident> {
        // `crate` is a keyword, which `Ident` alone does not accept.
        let key = input
            .call(Ident::parse_any)
            .map_err(|error| syn::Error::new(error.span(), self.expected("expected a key")))?;
        let (elsewhere, advice) = self.elsewhere;
        if elsewhere.iter().any(|other| key == other) {
            return Err(syn::Error::new(key.span(), advice));
        }

        if !self.valid.iter().any(|valid| key == valid) {
            return Err(syn::Error::new(key.span(), self.unknown(&key)));
        }

        if self.seen.contains(&key) {
            return Err(syn::Error::new(
                key.span(),
                format!("`{key}` is given twice; keep one"),
            ));
        }

        self.seen.push(key.clone());

        Ok(key)
    }

    fn unknown(&self, key: &Ident) -> String {
        let meant = nearest(
            &key.to_string(),
            self.valid.iter().copied().filter(|key| *key != "crate"),
        );
        match meant {
            Some(meant) => format!(
                "unknown key `{key}`; did you mean `{meant}`? {}",
                capitalized(&self.all())
            ),
            None => self.expected(&format!("unknown key `{key}`")),
        }
    }

    fn expected(&self, wrong: &str) -> String {
        format!("{wrong}; {}", self.all())
    }

    /// Lists the valid keys.
    fn all(&self) -> String {
        match self.valid {
            [] => "`#[svc(…)]` has no keys here, remove it".to_owned(),
            [only] => format!("the only key here is `{only}`"),
            [rest @ .., last] => {
                let rest: Vec<_> = rest.iter().map(|key| format!("`{key}`")).collect();
                format!("the keys here are {} and `{last}`", rest.join(", "))
            }
        }
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

/// Removes the `#[svc(…)]` attributes from an element and reads their keys.
pub(crate) fn read_svc(
    attrs: &mut Vec<Attribute>,
    valid: &'static [&'static str],
    errors: &mut Errors,
    mut read: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
) {
    // One reader for all attributes of the element, so that a key in two of them is reported.
    let mut keys = Keys::new(valid);
    for attr in attrs.extract_if(.., |attr| attr.path().is_ident("svc")) {
        match attr.meta {
            Meta::List(list) => keys.read(list.tokens, errors, &mut read),
            other => {
                let instead = valid.first().map_or("remove it".to_owned(), |key| {
                    format!("write `#[svc({key} = …)]`")
                });
                errors.at(
                    &other,
                    format!("`#[svc]` takes its keys in parentheses; {instead}"),
                );
            }
        }
    }
}

/// Removes and reports `#[relation]` on an element that cannot be a relation.
pub(crate) fn refuse_relation(attrs: &mut Vec<Attribute>, errors: &mut Errors) {
    for attr in attrs.extract_if(.., |attr| attr.path().is_ident("relation")) {
        errors.at(
            &attr,
            "`#[relation]` goes on a field of an `#[svc_type]` struct; remove it here",
        );
    }
}

/// `key = "…"`.
pub(crate) fn string(key: &Ident, input: ParseStream<'_>) -> syn::Result<LitStr> {
    value(key, input, "\"…\"")
}

/// `crate = path`.
pub(crate) fn krate(key: &Ident, input: ParseStream<'_>) -> syn::Result<Crate> {
    equals(key, input, "path::to::svc")?;
    Path::parse_mod_style(input)
        .map(Crate::at)
        .map_err(|error| wrong(key, &error, "path::to::svc"))
}

/// `key`, without a value.
pub(crate) fn flag(key: &Ident, input: ParseStream<'_>) -> syn::Result<bool> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(true);
    }
    Err(input.error(format!("`{key}` takes no value; write `{key}` alone")))
}

/// `key = [a, b]`.
pub(crate) fn list<T: Parse>(
    key: &Ident,
    input: ParseStream<'_>,
    item: &str,
) -> syn::Result<Vec<T>> {
    let shape = format!("[{item}]");
    equals(key, input, &shape)?;

    // `bracketed!` returns from the function that contains it, and its error needs another message.
    let parsed = (|| {
        let content;
        bracketed!(content in input);
        Punctuated::<T, Token![,]>::parse_terminated(&content)
    })();

    parsed
        .map(|items| items.into_iter().collect())
        .map_err(|error| wrong(key, &error, &shape))
}

/// The `=` between a key and its value.
pub(crate) fn equals(key: &Ident, input: ParseStream<'_>, shape: &str) -> syn::Result<()> {
    match input.parse::<Option<Token![=]>>()? {
        Some(_) => Ok(()),
        None => Err(syn::Error::new(
            key.span(),
            format!("`{key}` needs a value; write `{key} = {shape}`"),
        )),
    }
}

pub(crate) fn value<T: Parse>(key: &Ident, input: ParseStream<'_>, shape: &str) -> syn::Result<T> {
    equals(key, input, shape)?;
    input.parse().map_err(|error| wrong(key, &error, shape))
}

fn wrong(key: &Ident, error: &syn::Error, shape: &str) -> syn::Error {
    syn::Error::new(
        error.span(),
        format!("not a valid value for `{key}`; write `{key} = {shape}`"),
    )
}

fn separated(input: ParseStream<'_>) -> syn::Result<()> {
    if input.is_empty() || input.peek(Token![,]) {
        Ok(())
    } else {
        Err(input.error("expected a `,` before the next key"))
    }
}

fn skip_to_comma(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}
