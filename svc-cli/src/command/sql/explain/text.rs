//! The text of parts of a statement.

use squawk_syntax::SyntaxNode;
use squawk_syntax::ast::AstNode;

/// The maximum length of a text shown in full.
const MAX_LENGTH: usize = 100;

/// The text of a part on one line.
pub(super) fn of(node: &impl AstNode) -> String {
    let words = of_node(node.syntax());
    if words.chars().count() <= MAX_LENGTH {
        words
    } else {
        words.chars().take(MAX_LENGTH - 1).chain(['…']).collect()
    }
}

/// The tokens of a node, with blanks and comments replaced by one space.
fn of_node(node: &SyntaxNode) -> String {
    let mut text = String::new();
    let mut is_apart = false;
    for token in node
        .descendants_with_tokens()
        .filter_map(|element| element.into_token())
    {
        if token.kind().is_trivia() {
            is_apart = !text.is_empty();
            continue;
        }
        if std::mem::take(&mut is_apart) {
            text.push(' ');
        }
        text.push_str(token.text());
    }

    text
}

/// The byte at which a node's first token starts.
pub(super) fn start(node: &SyntaxNode) -> usize {
    let mut tokens = node
        .descendants_with_tokens()
        .filter_map(|element| element.into_token());
    tokens
        .find(|token| !token.kind().is_trivia())
        .map_or(0, |token| token.text_range().start().into())
}

/// The line of a byte, counted from 1.
pub(super) fn line_at(source: &str, at: usize) -> usize {
    source.as_bytes()[..at.min(source.len())]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}
