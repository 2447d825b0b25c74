//! PostgreSQL's storage format for the parsed query of a view (`pg_node_tree`), as nodes with named
//! fields.
//!
//! The fields differ between versions, so they are looked up by name.

/// The maximum depth of a tree that is read, because reading it is recursive.
const MAX_DEPTH: usize = 600;

/// A value of a field.
#[derive(Debug)]
enum Value<'t> {
    Word(&'t str),
    List(Vec<Value<'t>>),
    Node(Node<'t>),
}

/// A node: `{VAR :varno 1 :varattno 2}`.
#[derive(Debug)]
pub(super) struct Node<'t> {
    pub(super) name: &'t str,
    /// Each field with its first value. A constant has more: its length is followed by its bytes.
    fields: Vec<(&'t str, Option<Value<'t>>)>,
}

impl<'t> Value<'t> {
    /// The node, or the nodes of a list.
    fn nodes(&self) -> Vec<&Node<'t>> {
        match self {
            Self::Node(node) => vec![node],
            Self::List(values) => values.iter().flat_map(Self::nodes).collect(),
            Self::Word(_) => Vec::new(),
        }
    }
}

impl<'t> Node<'t> {
    /// The query in the action of a view's rule; `None` if the text has another form.
    pub(super) fn query(text: &'t str) -> Option<Self> {
        let mut rest = text;
        match value(&mut rest)? {
            Value::List(values) => values.into_iter().find_map(|value| match value {
                Value::Node(node) => Some(node),
                _ => None,
            }),
            _ => None,
        }
    }

    fn get(&self, field: &str) -> Option<&Value<'t>> {
        let (_, value) = self.fields.iter().find(|(name, _)| *name == field)?;
        value.as_ref()
    }

    pub(super) fn word(&self, field: &str) -> Option<&'t str> {
        match self.get(field)? {
            Value::Word(word) => Some(*word),
            _ => None,
        }
    }

    pub(super) fn number(&self, field: &str) -> Option<i64> {
        self.word(field)?.parse().ok()
    }

    /// The nodes of a field.
    pub(super) fn nodes(&self, field: &str) -> Vec<&Self> {
        self.get(field).map(Value::nodes).unwrap_or_default()
    }

    /// The nodes of all fields.
    pub(super) fn children(&self) -> impl Iterator<Item = &Self> {
        let values = self.fields.iter().filter_map(|(_, value)| value.as_ref());
        values.flat_map(Value::nodes)
    }
}

/// Splits the next token off: a bracket, or a word with its backslashes.
fn token<'t>(rest: &mut &'t str) -> Option<&'t str> {
    let is_bracket = |byte: u8| matches!(byte, b'(' | b')' | b'{' | b'}');
    let text = rest.trim_start_matches(|c: char| c.is_ascii_whitespace());
    let bytes = text.as_bytes();
    let mut end = usize::from(is_bracket(*bytes.first()?));

    while let Some(byte) = bytes.get(end).filter(|_| !is_bracket(bytes[0])) {
        if is_bracket(*byte) || byte.is_ascii_whitespace() {
            break;
        }
        end += if *byte == b'\\' { 2 } else { 1 };
    }

    let end = end.min(bytes.len());
    *rest = text.get(end..)?;
    text.get(..end)
}

fn value<'t>(rest: &mut &'t str) -> Option<Value<'t>> {
    let first = token(rest)?;
    value_at(first, rest, 0)
}

/// Reads the value that begins with a token.
fn value_at<'t>(first: &'t str, rest: &mut &'t str, depth: usize) -> Option<Value<'t>> {
    match first {
        _ if depth > MAX_DEPTH => None,
        "(" => list(rest, depth + 1).map(Value::List),
        "{" => node(rest, depth + 1).map(Value::Node),
        ")" | "}" => None,
        word => Some(Value::Word(word)),
    }
}

fn list<'t>(rest: &mut &'t str, depth: usize) -> Option<Vec<Value<'t>>> {
    let mut values = Vec::new();
    loop {
        match token(rest)? {
            ")" => return Some(values),
            first => values.push(value_at(first, rest, depth)?),
        }
    }
}

fn node<'t>(rest: &mut &'t str, depth: usize) -> Option<Node<'t>> {
    let name = token(rest)?;
    let mut fields: Vec<(&str, Option<Value<'_>>)> = Vec::new();

    loop {
        let first = token(rest)?;
        if first == "}" {
            return Some(Node { name, fields });
        }

        if let Some(field) = label(first) {
            fields.push((field, None));
            continue;
        }

        let value = value_at(first, rest, depth)?;
        if let Some((_, empty @ None)) = fields.last_mut() {
            *empty = Some(value);
        }
    }
}

/// The name of a field.
fn label(token: &str) -> Option<&str> {
    token
        .strip_prefix(':')
        .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let text = r#"({QUERY :a 7 :names ("x" "y\ z\)") :none <> :c {CONST :v 2 [ -1 65 ] :w 3} :odd :a :end})"#;
        let query = Node::query(text).unwrap();

        assert_eq!(query.name, "QUERY");
        assert_eq!(
            (query.number("a"), query.word("none")),
            (Some(7), Some("<>"))
        );
        assert_eq!((query.word("odd"), query.word("end")), (None, None));

        let constant = query.nodes("c")[0];
        assert_eq!((constant.name, constant.number("w")), ("CONST", Some(3)));
        assert_eq!(query.children().count(), 1);
    }

    #[test]
    fn malformed_trees_are_no_queries() {
        let deep = ["(", &"{A :b ".repeat(2_000)].concat();
        for text in ["", "({QUERY :a", "(1", "}", "{A 1}", &deep] {
            assert!(Node::query(text).is_none(), "{text}");
        }
    }
}
