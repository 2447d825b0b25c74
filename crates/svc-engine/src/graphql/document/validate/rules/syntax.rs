//! The differences between apollo's parser and the specification. Valid text that the parser
//! rejects is replaced before it reads the text, byte for byte, so that positions stay the same.
//! Invalid text that it accepts is rejected afterwards.

use std::borrow::Cow;

use apollo_compiler::ast::{Definition, Document};

use super::tokens::{Kind, Token, tokens};
use crate::graphql::error::{LineIndex, RequestError};
use svc_core::ErrorCode;

/// Returns the text with blanks for commas, which are allowed anywhere, and for descriptions of
/// operations, fragments and variables. Returns `None` if the text has more tokens than `most`
/// allows. apollo's parser counts at least a third of the tokens counted here: three dots are three
/// here.
pub(crate) fn smooth(text: &str, most: usize) -> Option<Cow<'_, str>> {
    if memchr::memchr2(b',', b'"', text.as_bytes()).is_none() {
        return Some(Cow::Borrowed(text));
    }

    let all = tokens(text, most.saturating_mul(3))?;
    let mut bytes = text.as_bytes().to_vec();
    let mut between = 0;

    for token in &all {
        blank(&mut bytes[between..token.start], |byte| byte == b',');
        between = token.end;
    }

    blank(&mut bytes[between..], |byte| byte == b',');

    for description in descriptions(text, &all) {
        // Line ends stay, so line numbers do too.
        blank(&mut bytes[description.start..description.end], |byte| {
            !matches!(byte, b'\n' | b'\r')
        });
    }

    // Only commas and whole strings were replaced, so no character was cut and the text is valid
    // UTF-8.
    Some(String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned))
}

fn blank(bytes: &mut [u8], which: impl Fn(u8) -> bool) {
    for byte in bytes {
        if which(*byte) {
            *byte = b' ';
        }
    }
}

fn descriptions(text: &str, all: &[Token]) -> Vec<Token> {
    let mut found = Vec::new();
    let mut depth = 0usize;
    for (index, token) in all.iter().enumerate() {
        let next = all.get(index + 1);
        let before = index.checked_sub(1).map(|before| all[before].kind);
        match token.kind {
            Kind::Mark(b'(' | b'[' | b'{') => depth += 1,
            Kind::Mark(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            Kind::Text if depth == 0 => {
                let word = next.map(|next| &text[next.start..next.end]);
                if matches!(
                    word,
                    Some("query" | "mutation" | "subscription" | "fragment")
                ) {
                    found.push(*token);
                }
            }
            // A string before `$` describes that variable, unless it is the default of the previous
            // one.
            Kind::Text
                if depth == 1
                    && before != Some(Kind::Mark(b'='))
                    && next.is_some_and(|next| next.kind == Kind::Mark(b'$')) =>
            {
                found.push(*token);
            }
            _ => {}
        }
    }

    found
}

/// Rejects text that apollo's parser wrongly accepts: type definitions, names of arguments and
/// input fields without a value, escapes with too many digits.
pub(crate) fn syntax(document: &Document, text: &str) -> Result<(), RequestError> {
    let executable = |definition: &Definition| {
        matches!(
            definition,
            Definition::OperationDefinition(_) | Definition::FragmentDefinition(_)
        )
    };

    if !document.definitions.iter().all(executable) {
        let message = "a request can hold operations and fragments only";
        return Err(RequestError::new(
            ErrorCode::GraphqlValidationFailed,
            message,
        ));
    }

    // The parser has already bounded the number of tokens.
    let all = tokens(text, usize::MAX).unwrap_or_default();
    let refuse = |token: Token, message: &str| {
        RequestError::new(ErrorCode::GraphqlParseFailed, message)
            .at(Some(LineIndex::new(text).locate(token.start)))
    };

    if let Some(name) = lone_name(&all) {
        return Err(refuse(
            name,
            "syntax error: expected a colon and a value after the name",
        ));
    }

    match all
        .iter()
        .find(|token| has_long_escape(&text[token.start..token.end]))
    {
        Some(token) => Err(refuse(
            *token,
            "syntax error: an escape of a character has at most eight digits",
        )),
        None => Ok(()),
    }
}

/// The kind of items between two brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// Arguments or an input object: names with values.
    Pairs,
    Values,
    Variables,
    Selections,
}

/// The first name of an argument or an input field that is not followed by a colon.
fn lone_name(all: &[Token]) -> Option<Token> {
    let mut open: Vec<Open> = Vec::new();
    for (index, token) in all.iter().enumerate() {
        let before = |back: usize| index.checked_sub(back).map(|index| all[index].kind);
        match token.kind {
            Kind::Mark(b'(') => {
                // The parentheses after the name of an operation declare variables; after a
                // directive of the operation, they hold arguments.
                let directive = before(2) == Some(Kind::Mark(b'@'));
                open.push(if open.is_empty() && !directive {
                    Open::Variables
                } else {
                    Open::Pairs
                });
            }
            Kind::Mark(b'{') => {
                let selections = matches!(open.last(), None | Some(Open::Selections));
                open.push(if selections {
                    Open::Selections
                } else {
                    Open::Pairs
                });
            }
            Kind::Mark(b'[') => open.push(Open::Values),
            Kind::Mark(b')' | b'}' | b']') => drop(open.pop()),
            Kind::Name if open.last() == Some(&Open::Pairs) => {
                let value = matches!(before(1), Some(Kind::Mark(b':' | b'$')));
                let pair = all
                    .get(index + 1)
                    .is_some_and(|next| next.kind == Kind::Mark(b':'));
                if !value && !pair {
                    return Some(*token);
                }
            }
            _ => {}
        }
    }

    None
}

/// Whether a string has an escape such as `\u{000000041}`.
fn has_long_escape(token: &str) -> bool {
    if !token.starts_with('"') || token.starts_with("\"\"\"") {
        return false;
    }

    let mut rest = token;
    while let Some(at) = rest.find('\\') {
        rest = &rest[at + 1..];
        if let Some(digits) = rest.strip_prefix("u{")
            && digits.find('}').is_some_and(|length| length > 8)
        {
            return true;
        }
        rest = rest.get(1..).unwrap_or_default();
    }

    false
}

#[cfg(test)]
mod tests {
    use super::{lone_name, smooth};
    use crate::graphql::document::validate::rules::tokens::tokens;

    #[test]
    fn commas_and_descriptions_are_replaced_by_blanks() {
        for (text, smoothed) in [
            (
                "{ a,:,b(c: \"d,\"), # e,\n }",
                "{ a : b(c: \"d,\")  # e \n }",
            ),
            ("\"x\ny\" { a }", "\"x\ny\" { a }"),
            ("\"é\" query Q { a }", "     query Q { a }"),
            (
                "query (\"d\" $a: S = \"e\" \"\"\"f\"\"\" $b: S) { a }",
                "query (    $a: S = \"e\"         $b: S) { a }",
            ),
            ("{ a }", "{ a }"),
        ] {
            let found = smooth(text, 100).unwrap();
            assert_eq!((&*found, found.len()), (smoothed, text.len()));
        }
    }

    #[test]
    fn no_more_tokens_are_kept_than_are_allowed() {
        assert!(smooth(&"\"a\" ".repeat(30), 10).is_some());
        assert!(smooth(&"\"a\" ".repeat(31), 10).is_none());
    }

    #[test]
    fn names_need_values() {
        for (text, lone) in [
            ("{ a(b) }", Some(4)),
            ("{ a(b: c d) }", Some(9)),
            ("{ a(b: {c}) }", Some(8)),
            (
                "query ($a: I = {b: c}) @d(e: f) { a(b: $a c: [d e] f: {g: h}) { i j } }",
                None,
            ),
            ("query ($a: I = {b}) { a }", Some(16)),
            ("{ a @d(e) }", Some(7)),
        ] {
            assert_eq!(
                lone_name(&tokens(text, 100).unwrap()).map(|token| token.start),
                lone,
                "{text}"
            );
        }
    }
}
