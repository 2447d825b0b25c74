//! The tokens of SQL, found by PostgreSQL's lexical rules:
//! <https://www.postgresql.org/docs/current/sql-syntax-lexical.html>.

use squawk_lexer::{TokenKind, tokenize};

/// A token and its place in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexeme<'a> {
    pub(super) kind: TokenKind,
    /// The position of its first byte.
    pub(super) at: usize,
    pub(super) text: &'a str,
}

impl Lexeme<'_> {
    /// Whether it is a keyword, ignoring case.
    pub(super) fn is(&self, keyword: &str) -> bool {
        self.kind == TokenKind::Ident && self.text.eq_ignore_ascii_case(keyword)
    }
}

/// The tokens of a text, without whitespace and comments.
pub(super) fn lexemes(text: &str) -> impl Iterator<Item = Lexeme<'_>> {
    let mut end = 0;
    tokenize(text)
        .map(move |token| {
            let at = end;
            end += token.len as usize;
            Lexeme {
                kind: token.kind,
                at,
                text: &text[at..end],
            }
        })
        .filter(|lexeme| {
            !matches!(
                lexeme.kind,
                TokenKind::Whitespace | TokenKind::LineComment | TokenKind::BlockComment { .. }
            )
        })
}
