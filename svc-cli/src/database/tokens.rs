//! The tokens of a statement, as needed to find names.

use super::script::{skip_blank, token, word};

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A keyword or a name without quotes, in lower case.
    Word(String),
    /// A quoted name, unchanged.
    Quoted(String),
    /// Another character; the first one of a string or a number.
    Symbol(char),
}

impl Token {
    /// Whether it is a keyword, in lower case.
    pub(crate) fn is(&self, keyword: &str) -> bool {
        matches!(self, Self::Word(word) if word == keyword)
    }
}

/// The tokens of a text, without comments.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = Token> + '_ {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = skip_blank(rest);
        let first = rest.chars().next()?;
        let word = word(rest, 0);
        let (found, length) = match first {
            '"' => quoted(rest),
            _ if !word.is_empty() => (Token::Word(word.to_lowercase()), word.len()),
            other => (Token::Symbol(other), token(rest)),
        };
        rest = &rest[length..];
        Some(found)
    })
}

/// The leading quoted name of a text, with doubled quotes unescaped, and its length.
fn quoted(text: &str) -> (Token, usize) {
    let mut name = String::new();
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        if c == '"' && characters.next_if(|(_, next)| *next == '"').is_none() {
            return (Token::Quoted(name), at + 1);
        }
        name.push(c);
    }

    (Token::Quoted(name), text.len())
}

/// Whether a text contains a name as a whole word, ignoring case.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase(), name.to_lowercase());

    // A search of the text, because the bodies of functions are strings, whose names PostgreSQL
    // does not track as dependencies either.
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(&name).any(|(at, _)| {
        !text[..at].ends_with(is_part)
            && !text[at + name.len()..].starts_with(is_part)
            && !name.is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_postgresql_reads_them() {
        let found: Vec<Token> =
            tokens("ALTER /* x */ Table \"My\"\"T\".b -- y\n ('a', 12)").collect();
        let word = |text: &str| Token::Word(text.to_owned());
        let expected = [
            word("alter"),
            word("table"),
            Token::Quoted("My\"T".to_owned()),
            Token::Symbol('.'),
            word("b"),
        ];

        assert_eq!(found[..5], expected);

        assert_eq!(found[5..], ['(', '\'', ',', '1', ')'].map(Token::Symbol));
    }

    #[test]
    fn a_name_is_a_word() {
        assert!(
            mentions("SELECT x FROM app.V_User;", "v_user") && mentions("\"v_user\"", "v_user")
        );
        assert!(!mentions("SELECT x FROM v_user_2", "v_user") && !mentions("tv_user", "v_user"));
    }
}
