//! PostgreSQL's storage format for parsed queries (`pg_node_tree`), as nodes with named fields.
//!
//! The fields differ between versions, so they are looked up by name, and a missing field is empty.

/// A value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// `<>`.
    Null,
    Atom(String),
    List(Vec<Value>),
    Node(Node),
}

/// A node: `{VAR :varno 1 :varattno 2}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) name: String,
    /// A field has several values if the length of a constant precedes its bytes.
    fields: Vec<(String, Vec<Value>)>,
}

impl Value {
    /// Parses the text of a tree; none if it is not one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let tokens = tokens(text);
        let mut rest = tokens.as_slice();
        let value = value(&mut rest)?;
        rest.is_empty().then_some(value)
    }

    pub(super) fn node(&self) -> Option<&Node> {
        match self {
            Self::Node(node) => Some(node),
            _ => None,
        }
    }

    /// The nodes of a list, or a single node.
    pub(super) fn nodes(&self) -> Vec<&Node> {
        match self {
            Self::List(values) => values.iter().filter_map(Self::node).collect(),
            Self::Node(node) => vec![node],
            _ => Vec::new(),
        }
    }

    fn any(&self, holds: &impl Fn(&Node) -> bool) -> bool {
        match self {
            Self::Node(node) => node.any(holds),
            Self::List(values) => values.iter().any(|value| value.any(holds)),
            _ => false,
        }
    }

    fn number(&self) -> Option<i64> {
        match self {
            Self::Atom(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl Node {
    fn field(&self, name: &str) -> &[Value] {
        self.fields
            .iter()
            .find(|(field, _)| field == name)
            .map_or(&[], |(_, values)| values)
    }

    /// The value of a field.
    pub(super) fn get(&self, name: &str) -> &Value {
        self.field(name).first().unwrap_or(&Value::Null)
    }

    /// The node of a field.
    pub(super) fn node(&self, name: &str) -> Option<&Self> {
        self.get(name).node()
    }

    /// The nodes of a field.
    pub(super) fn nodes(&self, name: &str) -> Vec<&Self> {
        self.get(name).nodes()
    }

    /// The number in a field; 0 if there is none, as in PostgreSQL.
    pub(super) fn number(&self, name: &str) -> i64 {
        self.get(name).number().unwrap_or(0)
    }

    /// The object that a field refers to.
    pub(super) fn oid(&self, name: &str) -> u32 {
        u32::try_from(self.number(name)).unwrap_or(0)
    }

    /// A position in a list, counted from 1.
    pub(super) fn position(&self, name: &str) -> usize {
        usize::try_from(self.number(name)).unwrap_or(0)
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.text(name) == "true"
    }

    pub(super) fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Value::Atom(text) => text,
            _ => "",
        }
    }

    /// Whether a predicate holds for this node or a node within it.
    pub(super) fn any(&self, holds: &impl Fn(&Self) -> bool) -> bool {
        holds(self)
            || self
                .fields
                .iter()
                .flat_map(|(_, values)| values)
                .any(|value| value.any(holds))
    }

    /// Whether a field is not empty.
    pub(super) fn has(&self, name: &str) -> bool {
        !matches!(self.get(name), Value::Null)
    }

    /// The bytes of a constant: `6 [ 24 0 0 0 105 100 ]`.
    pub(super) fn bytes(&self, name: &str) -> Vec<u8> {
        // The length comes first; the brackets are words, not numbers.
        let numbers = self.field(name).iter().skip(1).filter_map(Value::number);
        // Some versions write bytes as signed numbers.
        numbers
            .filter_map(|number| u8::try_from(number & 0xff).ok())
            .collect()
    }
}

/// A token: a bracket, or a word without its backslashes.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    Bracket(char),
    Null,
    Field(String),
    Word(String),
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(&c) = chars.peek() {
        if c.is_ascii_whitespace() {
            chars.next();
        } else if "(){}".contains(c) {
            tokens.push(Token::Bracket(c));
            chars.next();
        } else {
            tokens.push(word(&mut chars));
        }
    }

    tokens
}

fn word(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Token {
    let (mut word, mut is_escaped) = (String::new(), false);
    while let Some(&c) = chars.peek() {
        if c.is_ascii_whitespace() || "(){}".contains(c) {
            break;
        }
        chars.next();
        if c == '\\' {
            is_escaped = true;
            word.extend(chars.next());
        } else {
            word.push(c);
        }
    }

    // PostgreSQL escapes the start of a text that looks like a null or a number.
    match word.strip_prefix(':') {
        _ if is_escaped => Token::Word(word),
        Some(field) if field.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            Token::Field(field.to_owned())
        }
        _ if word == "<>" => Token::Null,
        _ => Token::Word(word),
    }
}

fn value(tokens: &mut &[Token]) -> Option<Value> {
    let (first, rest) = tokens.split_first()?;
    *tokens = rest;

    match first {
        Token::Null => Some(Value::Null),
        Token::Word(word) | Token::Field(word) => Some(Value::Atom(word.clone())),
        Token::Bracket('(') => list(tokens).map(Value::List),
        Token::Bracket('{') => node(tokens).map(Value::Node),
        Token::Bracket(_) => None,
    }
}

fn list(tokens: &mut &[Token]) -> Option<Vec<Value>> {
    let mut values = Vec::new();
    loop {
        if let Some((Token::Bracket(')'), rest)) = tokens.split_first() {
            *tokens = rest;
            return Some(values);
        }
        values.push(value(tokens)?);
    }
}

fn node(tokens: &mut &[Token]) -> Option<Node> {
    let Some((Token::Word(name), rest)) = tokens.split_first() else {
        return None;
    };

    *tokens = rest;
    let mut node = Node {
        name: name.clone(),
        fields: Vec::new(),
    };

    loop {
        match tokens.split_first()? {
            (Token::Bracket('}'), rest) => {
                *tokens = rest;
                return Some(node);
            }
            (Token::Field(field), rest) => {
                *tokens = rest;
                node.fields.push((field.clone(), Vec::new()));
            }
            _ => {
                let value = value(tokens)?;
                node.fields.last_mut()?.1.push(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let text = r#"({QUERY :a 7 :names ("x" "y\ z") :none <> :c {CONST :v 2 [ -1 65 ]} :is true :word \:odd})"#;
        let tree = Value::parse(text).unwrap();
        let query = tree.nodes()[0];

        assert_eq!(
            (
                query.number("a"),
                query.flag("is"),
                query.has("none"),
                query.text("word")
            ),
            (7, true, false, ":odd")
        );

        assert_eq!(query.node("c").unwrap().bytes("v"), [255, 65]);

        assert_eq!(query.number("missing"), 0);
    }

    #[test]
    fn truncated_texts_are_not_trees() {
        for text in ["", "({QUERY :a", "(1", "}", "{A 1}", "() ()"] {
            assert_eq!(Value::parse(text), None, "{text}");
        }
    }
}
