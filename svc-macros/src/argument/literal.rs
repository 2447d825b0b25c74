//! `default = …`: from Rust-like literals to GraphQL literals.

use std::fmt::Write as _;

use proc_macro2::Ident;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Lit, LitFloat, LitInt, LitStr, Token, braced, bracketed, token};

const SHAPE: &str = "a default is a literal: `10`, `-1.5`, `true`, `\"text\"`, `ADMIN`, `null`, \
                     `[1, 2]` or `{ a: 1 }`";

/// Reads the default after `key =` and returns it as GraphQL.
pub(crate) fn whole(key: &Ident, input: ParseStream<'_>) -> syn::Result<String> {
    if input.is_empty() || input.peek(Token![,]) {
        return Err(syn::Error::new(
            key.span(),
            format!("`{key}` needs a value; {SHAPE}"),
        ));
    }

    let literal = parse(input)?;
    if !input.is_empty() && !input.peek(Token![,]) {
        return Err(input.error(
            "a default is not computed; write the value itself, such as `3600` for `60 * 60`",
        ));
    }

    Ok(literal)
}

/// Reads a literal and returns it as GraphQL.
pub(crate) fn parse(input: ParseStream<'_>) -> syn::Result<String> {
    if input.peek(token::Bracket) {
        return list(input);
    }

    if input.peek(token::Brace) {
        return object(input);
    }

    // Rust has no negative literals: the minus sign is a separate token.
    if input.parse::<Option<Token![-]>>()?.is_some() {
        return number(input).map(|number| format!("-{number}"));
    }

    if input.peek(LitInt) || input.peek(LitFloat) {
        return number(input);
    }

    if input.peek(Lit) {
        scalar(input)
    } else {
        word(input)
    }
}

fn list(input: ParseStream<'_>) -> syn::Result<String> {
    let content;
    bracketed!(content in input);
    let items = content.parse_terminated(parse, Token![,])?;
    Ok(format!(
        "[{}]",
        items.into_iter().collect::<Vec<_>>().join(", ")
    ))
}

fn object(input: ParseStream<'_>) -> syn::Result<String> {
    let content;
    braced!(content in input);
    let fields = content.parse_terminated(field, Token![,])?;
    Ok(format!(
        "{{{}}}",
        fields.into_iter().collect::<Vec<_>>().join(", ")
    ))
}

fn field(input: ParseStream<'_>) -> syn::Result<String> {
    // A keyword of Rust may be the name of a field in GraphQL.
    let name = input.call(Ident::parse_any)?.unraw();
    input.parse::<Token![:]>()?;
    Ok(format!("{name}: {}", parse(input)?))
}

fn number(input: ParseStream<'_>) -> syn::Result<String> {
    let (digits, suffix, span) = match input.parse::<Lit>() {
        Ok(Lit::Int(int)) => (
            // GraphQL has neither hexadecimal numbers nor underscores in them.
            int.base10_digits().to_owned(),
            int.suffix().to_owned(),
            int.span(),
        ),
        Ok(Lit::Float(float)) => (
            float.base10_digits().to_owned(),
            float.suffix().to_owned(),
            float.span(),
        ),
        Ok(other) => return Err(syn::Error::new(other.span(), SHAPE)),
        Err(error) => return Err(syn::Error::new(error.span(), SHAPE)),
    };

    if !suffix.is_empty() {
        return Err(syn::Error::new(
            span,
            format!("a default has no type of its own; write `{digits}` without `{suffix}`"),
        ));
    }

    // GraphQL requires a digit after the point.
    Ok(if digits.ends_with('.') {
        format!("{digits}0")
    } else {
        digits
    })
}

fn scalar(input: ParseStream<'_>) -> syn::Result<String> {
    match input.parse()? {
        Lit::Bool(value) => Ok(value.value.to_string()),
        Lit::Str(text) => Ok(quoted(&text)),
        Lit::Char(c) => Err(syn::Error::new(
            c.span(),
            format!("GraphQL has no characters; write `\"{}\"`", c.value()),
        )),
        other => Err(syn::Error::new(other.span(), SHAPE)),
    }
}

fn quoted(text: &LitStr) -> String {
    let mut out = String::from('"');
    for c in text.value().chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Writing to a string cannot fail.
            c if c.is_control() => drop(write!(out, "\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }

    out.push('"');

    out
}

fn word(input: ParseStream<'_>) -> syn::Result<String> {
    let Ok(word) = input.call(Ident::parse_any) else {
        return Err(input.error(SHAPE));
    };

    if input.peek(Token![::]) {
        return Err(syn::Error::new(
            word.span(),
            "a default is a GraphQL literal, not Rust; an enum value is written as `ADMIN`, a list \
             as `[1, 2]`",
        ));
    }

    if input.peek(token::Paren) || input.peek(Token![!]) || input.peek(Token![.]) {
        return Err(syn::Error::new(
            word.span(),
            format!("nothing is called here; {SHAPE}"),
        ));
    }

    match word.to_string().as_str() {
        "None" => Err(syn::Error::new(
            word.span(),
            "`None` is `null` in GraphQL; write `default = null`",
        )),
        word => Ok(word.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use syn::parse::Parser as _;

    fn graphql(rust: &str) -> Result<String, String> {
        super::parse
            .parse_str(rust)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn literals_become_graphql() {
        for (rust, expected) in [
            ("10", "10"),
            ("1_000", "1000"),
            ("0x10", "16"),
            ("-5", "-5"),
            ("1.5", "1.5"),
            ("1.", "1.0"),
            ("-1e3", "-1e3"),
            ("true", "true"),
            ("null", "null"),
            ("ADMIN", "ADMIN"),
            (r#""a \"b\" \n""#, r#""a \"b\" \n""#),
            ("[1, 2]", "[1, 2]"),
            ("[]", "[]"),
            ("{ a: 1, r#type: [A] }", "{a: 1, type: [A]}"),
        ] {
            assert_eq!(graphql(rust).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn non_literals_are_refused() {
        for (rust, message) in [
            (
                "10u8",
                "a default has no type of its own; write `10` without `u8`",
            ),
            ("'a'", "GraphQL has no characters; write `\"a\"`"),
            (
                "None",
                "`None` is `null` in GraphQL; write `default = null`",
            ),
            (
                "Role::Admin",
                "a default is a GraphQL literal, not Rust; an enum value is written as `ADMIN`, a \
                 list as `[1, 2]`",
            ),
        ] {
            assert_eq!(graphql(rust), Err(message.to_owned()));
        }

        assert!(
            graphql("vec![]").is_err_and(|message| message.starts_with("nothing is called here"))
        );

        assert!(
            graphql("b\"x\"").is_err_and(|message| message.starts_with("a default is a literal"))
        );
    }
}
