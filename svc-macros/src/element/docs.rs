//! Doc comments, as descriptions.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::{Attribute, Expr, Lit, Meta};

/// The documentation as a constant text. The library trims the output of a macro such as
/// `include_str!`.
pub(crate) fn description(attrs: &[Attribute]) -> Option<TokenStream> {
    let parts: Vec<&Expr> = attrs.iter().filter_map(part).collect();
    let texts: Option<Vec<String>> = parts
        .iter()
        .map(|part| text(part).map(|text| without_margin(&text)))
        .collect();

    match texts {
        Some(texts) => {
            let text = texts.join("\n");
            Some(text.trim())
                .filter(|text| !text.is_empty())
                .map(|text| text.to_token_stream())
        }
        None => {
            let parts = parts.iter().map(|part| match text(part) {
                Some(text) => without_margin(&text).to_token_stream(),
                None => part.to_token_stream(),
            });
            Some(quote!(::core::concat!(#(#parts, "\n"),*)))
        }
    }
}

/// The text of a literal.
pub(crate) fn text(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        Expr::Group(group) => text(&group.expr),
        _ => None,
    }
}

fn part(attr: &Attribute) -> Option<&Expr> {
    match &attr.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => Some(&doc.value),
        _ => None,
    }
}

/// A comment's text without the space after `///`, and without the margin and the stars of
/// `/** … */`.
fn without_margin(text: &str) -> String {
    let Some((first, rest)) = text.split_once('\n') else {
        return text.strip_prefix(' ').unwrap_or(text).trim_end().to_owned();
    };

    let mut lines: Vec<&str> = rest.lines().map(str::trim_end).collect();
    if !first.is_empty() && !first.starts_with(' ') {
        // A text written as a string; its spaces are intentional.
        return text.to_owned();
    }

    if lines
        .iter()
        .all(|line| line.is_empty() || line.trim_start().starts_with('*'))
    {
        lines = lines
            .iter()
            .map(|line| line.trim_start().strip_prefix('*').unwrap_or_default())
            .collect();
    }

    let indent = |line: &&str| line.len() - line.trim_start().len();

    // Markdown treats indented lines as code, so the lines may only lose what all of them have in
    // common.
    let margin = lines
        .iter()
        .filter(|line| !line.is_empty())
        .map(indent)
        .min()
        .unwrap_or_default();

    let lines: Vec<&str> = lines
        .iter()
        .map(|line| line.get(margin..).unwrap_or_default())
        .collect();

    format!("{}\n{}", first.trim(), lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::{description, without_margin};

    #[test]
    fn comments_lose_their_margin() {
        for (comment, text) in [
            (" one", "one"),
            ("one", "one"),
            ("   code", "  code"),
            (
                "\n     * Stars.\n     *\n     *   code\n     ",
                "\nStars.\n\n  code\n",
            ),
            (
                " First.\n     More.\n       code\n ",
                "First.\nMore.\n  code\n",
            ),
            ("a\n    code", "a\n    code"),
            ("\n* a\nb", "\n* a\nb"),
        ] {
            assert_eq!(without_margin(comment), text, "{comment:?}");
        }
    }

    #[test]
    fn macros_in_documentation_are_kept() {
        let tokens = description(&[
            parse_quote!(#[doc = " See"]),
            parse_quote!(#[doc = include_str!("a.md")]),
            parse_quote!(#[doc(hidden)]),
        ]);
        let expected = "concat ! (\"See\" , \"\\n\" , include_str ! (\"a.md\") , \"\\n\")";
        assert!(tokens.is_some_and(|tokens| tokens.to_string().ends_with(expected)));
    }
}
