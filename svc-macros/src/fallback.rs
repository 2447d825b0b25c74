//! Recovery for items that do not parse.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Field, Fields, FieldsNamed, Generics, Ident, Item, ItemStruct, Token, Visibility,
    braced,
};

use crate::errors::Errors;

/// Reads an item. If fields lack a type because the user is still typing, reads the item without
/// them, so that only these fields are reported, and not each use of the type.
pub(crate) fn read(item: TokenStream, errors: &mut Errors) -> Option<Item> {
    let error = match syn::parse2(item.clone()) {
        Ok(item) => return Some(item),
        Err(error) => error,
    };

    // rustc parses the item before it runs the macro, so it has reported a missing type already.
    match syn::parse2::<HalfTyped>(item) {
        Ok(HalfTyped(item)) => {
            errors.told_by_rustc();
            Some(Item::Struct(item))
        }
        Err(_) => {
            errors.push(error);
            None
        }
    }
}

/// A struct that is valid except for fields without a type.
struct HalfTyped(ItemStruct);

impl Parse for HalfTyped {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let (vis, struct_token, ident) = (input.parse()?, input.parse()?, input.parse()?);
        let mut generics: Generics = input.parse()?;

        generics.where_clause = input.parse()?;
        let content;
        let brace_token = braced!(content in input);
        let mut named = Punctuated::new();

        for tokens in fields(content.parse()?) {
            match Field::parse_named.parse2(tokens.clone()) {
                Ok(field) => named.push(field),
                // Any other mistake in a field is reported by its first error, not by the second
                // attempt.
                Err(error) => without_type.parse2(tokens).map_err(|_| error)?,
            }
        }

        let fields = Fields::Named(FieldsNamed { brace_token, named });

        Ok(Self(ItemStruct {
            attrs,
            vis,
            struct_token,
            ident,
            generics,
            fields,
            semi_token: None,
        }))
    }
}

/// Splits the tokens at commas, except at commas between type arguments.
fn fields(body: TokenStream) -> Vec<TokenStream> {
    let (mut fields, mut depth, mut arrow) = (vec![TokenStream::new()], 0_usize, false);
    for token in body {
        let punct = if let TokenTree::Punct(punct) = &token {
            punct.as_char()
        } else {
            ' '
        };

        // Unlike parentheses, `<` and `>` do not form a group with the tokens between them.
        match punct {
            ',' if depth == 0 => {
                fields.push(TokenStream::new());
                continue;
            }
            '<' => depth += 1,
            // The `>` of a return type, as in `fn() -> u8`, closes no bracket.
            '>' if !arrow => depth = depth.saturating_sub(1),
            _ => {}
        }

        arrow = punct == '-';

        if let Some(field) = fields.last_mut() {
            field.extend([token]);
        }
    }

    fields.retain(|field| !field.is_empty());

    fields
}

/// `name` or `name:`.
fn without_type(input: ParseStream<'_>) -> syn::Result<()> {
    input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    input.parse::<Ident>()?;
    input.parse::<Option<Token![:]>>()?;
    Ok(())
}

/// The item without its `#[svc(…)]` and `#[relation]` attributes, which rustc would report as well.
pub(crate) fn strip(item: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = item.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(hash)
                if hash.as_char() == '#' && tokens.peek().is_some_and(is_ours) =>
            {
                drop(tokens.next());
            }
            TokenTree::Group(group) => {
                // A new group has the span of the macro, and errors in it would be reported there.
                let mut inner = Group::new(group.delimiter(), strip(group.stream()));
                inner.set_span(group.span());
                out.extend([TokenTree::Group(inner)]);
            }
            other => out.extend([other]),
        }
    }

    out
}

fn is_ours(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
            matches!(
                group.stream().into_iter().next(),
                Some(TokenTree::Ident(name)) if name == "svc" || name == "relation"
            )
        }
        _ => false,
    }
}
