//! The user's item when nothing can be generated for it.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The item without its `#[svc(…)]` and `#[relation]` attributes, which rustc would report once more.
pub(crate) fn strip(item: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = item.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(hash) if hash.as_char() == '#' && tokens.peek().is_some_and(is_ours) => {
                drop(tokens.next());
            }
            TokenTree::Group(group) => {
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
            matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "svc" || name == "relation")
        }
        _ => false,
    }
}
