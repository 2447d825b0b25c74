//! The tokens of expressions as printed by PostgreSQL.

/// A token of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A name, a keyword, a number or a placeholder.
    Word(&'a str),
    /// A quoted name, including the quotes.
    Quoted(&'a str),
    /// A quoted text, including the quotes.
    Text(&'a str),
    Operator(&'a str),
    /// `(`, `)`, `.`, `::` and other punctuation.
    Mark(&'a str),
}

impl Token<'_> {
    /// The unquoted name, if it is a name.
    pub(super) fn name(&self) -> Option<String> {
        match self {
            Token::Word(word) if !word.starts_with(|c: char| c.is_ascii_digit() || c == '$') => {
                Some((*word).to_owned())
            }
            Token::Quoted(quoted) => Some(
                quoted
                    .strip_prefix('"')?
                    .strip_suffix('"')?
                    .replace("\"\"", "\""),
            ),
            _ => None,
        }
    }
}

/// The tokens of an expression, in order.
pub(super) fn tokens<'a>(text: &'a str) -> Vec<Token<'a>> {
    let (mut tokens, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$' || !c.is_ascii();
        let is_operator = |c: char| "+-*/<>=~!@#%^&|`?".contains(c);
        let while_all = |is: &dyn Fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
        let (length, token): (usize, fn(&'a str) -> Token<'a>) = match first {
            '"' => (quoted(rest, '"'), Token::Quoted),
            '\'' => (quoted(rest, '\''), Token::Text),
            c if is_word(c) => (while_all(&is_word), Token::Word),
            c if is_operator(c) => (while_all(&is_operator), Token::Operator),
            ':' if rest.starts_with("::") => (2, Token::Mark),
            c => (c.len_utf8(), Token::Mark),
        };

        let (taken, after) = rest.split_at(length);
        tokens.push(token(taken));

        rest = after.trim_start();
    }

    tokens
}

/// The length of a quoted section, where quotes are doubled.
fn quoted(text: &str, quote: char) -> usize {
    let mut inside = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = inside.next() {
        if c == quote && inside.next_if(|(_, next)| *next == quote).is_none() {
            return at + 1;
        }
    }
    text.len()
}

/// The depth of each token in parentheses and brackets.
pub(super) fn depths<'a>(tokens: &'a [Token<'_>]) -> impl Iterator<Item = usize> + 'a {
    tokens.iter().scan(0_usize, |depth, token| {
        match token {
            Token::Mark("(" | "[") => *depth += 1,
            Token::Mark(")" | "]") => *depth = depth.saturating_sub(1),
            _ => {}
        }
        Some(*depth)
    })
}

/// The same without the parentheses around all of it.
pub(super) fn bare<'t, 'a>(mut tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    while let [Token::Mark("("), inner @ .., Token::Mark(")")] = tokens
        && depths(&tokens[..tokens.len() - 1]).all(|depth| depth > 0)
    {
        tokens = inner;
    }
    tokens
}
