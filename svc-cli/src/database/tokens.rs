//! The tokens of a statement, as needed to find names.

use squawk_lexer::TokenKind;

use super::lexer::lexemes;

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A keyword or a name without quotes, in lower case.
    Word(String),
    /// A quoted name, unchanged.
    Quoted(String),
    /// The first character of another token, such as a string, a number or an operator.
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
    lexemes(text).map(|lexeme| match lexeme.kind {
        TokenKind::Ident => Token::Word(lexeme.text.to_lowercase()),
        TokenKind::QuotedIdent { .. } => Token::Quoted(unquoted(lexeme.text)),
        _ => Token::Symbol(lexeme.text.chars().next().unwrap_or_default()),
    })
}

/// A quoted name without its quotes, and with its doubled quotes as single ones.
fn unquoted(text: &str) -> String {
    // `U&` precedes the quote of a name with Unicode escapes.
    let name = text.trim_start_matches(['U', 'u', '&']);
    let name = name.strip_prefix('"').unwrap_or(name);
    name.strip_suffix('"').unwrap_or(name).replace("\"\"", "\"")
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
    fn strings_are_one_token() {
        for string in ["'a (b'", "E'it\\'s (b'", "$a$ 'x' ( $a$", "U&'\\0061 ('"] {
            let found: Vec<Token> = tokens(&format!("f({string})")).collect();
            assert_eq!(found.len(), 4, "{string}");
            assert_eq!(found[3], Token::Symbol(')'), "{string}");
        }
    }

    #[test]
    fn a_name_is_a_word() {
        assert!(
            mentions("SELECT x FROM app.V_User;", "v_user") && mentions("\"v_user\"", "v_user")
        );
        assert!(!mentions("SELECT x FROM v_user_2", "v_user") && !mentions("tv_user", "v_user"));
    }
}
