use apollo_compiler::Node;
use apollo_compiler::ast::{Definition, Document, Selection, Value};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::Masked;
use super::mask::MAX_LITERALS;
use crate::graphql::document::validate::rules::smooth;

/// The masked text, with letters for the marks.
fn masked(text: &str) -> Option<String> {
    let key = Masked::of(text)?.key;
    Some(
        key.replace('\u{1}', "<int>")
            .replace('\u{2}', "<float>")
            .replace('\u{3}', "<text>"),
    )
}

/// Parses a document as requests do.
fn parse(text: &str) -> Document {
    let smooth = smooth(text, usize::MAX).unwrap();
    Document::parse(smooth, "test.graphql")
        .unwrap_or_else(|invalid| panic!("{text}\n{}", invalid.errors))
}

#[test]
fn literals_in_arguments_of_fields_are_masked() {
    for (text, key) in [
        (
            "{ a(b: 1, c: -2.5e3, d: \"x\") }",
            "{ a(b: <int>, c: <float>, d: <text>) }",
        ),
        (
            "{ a(b: [1 2], c: {d: \"}\", e: [{f: 0}]}) { g(h: \"\") } }",
            "{ a(b: [<int> <int>], c: {d: <text>, e: [{f: <int>}]}) { g(h: <text>) } }",
        ),
        (
            "query ($i: Int = 7) @d(n: 1) { a(b: 1, i: $i) @include(if: true) @d(n: 2) }",
            "query ($i: Int = 7) @d(n: 1) { a(b: <int>, i: $i) @include(if: true) @d(n: 2) }",
        ),
        (
            "{ a(b: null, c: RED, d: true, e: 1) } # 5 \"x\" (",
            "{ a(b: null, c: RED, d: true, e: <int>) } # 5 \"x\" (",
        ),
        (
            r#"{ a(b: "\"1\\", c: """x \""" " # 1""", d: 2) }"#,
            r#"{ a(b: <text>, c: """x \""" " # 1""", d: <int>) }"#,
        ),
        (
            "\"A (description) of 1\" query Q { a(b: 1) } fragment F on T { c(d: 2) }",
            "\"A (description) of 1\" query Q { a(b: <int>) } fragment F on T { c(d: <int>) }",
        ),
        ("{ a(b: -0, a1: 1e5)}", "{ a(b: <int>, a1: <float>)}"),
    ] {
        assert_eq!(masked(text).as_deref(), Some(key), "{text}");
    }
}

#[test]
fn unusual_texts_are_not_masked() {
    let many = format!("{{ a(b: [{}]) }}", "1 ".repeat(513));
    for text in [
        "{ a }",
        "query ($i: Int = 1) { a(b: $i) @d(n: 1) }",
        "{ a(b: 1) } # \u{1}",
        "{ a(b: \"\u{3}\") }",
        "{ a(b: [1-2]) }",
        "{ a(b: [\"x\"\"y\"]) }",
        "{ a(b: 01) }",
        "{ a(b: 1.) }",
        "{ a(b: 1e) }",
        "{ a(b: 1x) }",
        "{ a(b: -) }",
        "{ a(b: \"x\n\") }",
        "{ a(b: \"x\r\") }",
        "{ a(b: \"x\\",
        "{ a(b: \"\"\"x\"\" ) }",
        "{ a(b: 1",
        many.as_str(),
    ] {
        assert_eq!(masked(text), None, "{text}");
    }
}

#[test]
fn strings_are_decoded_as_the_parser_does() {
    for written in [
        r#""""#,
        r#""plain, é and 😀""#,
        r#""\"\\\/\b\f\n\r\t""#,
        r#""\u0041\u00e9\uFFFD\u0000 x""#,
    ] {
        let text = format!("{{ a(b: {written}) }}");
        let masked = Masked::of(&text).unwrap();
        let document = parse(&text);
        assert_eq!(
            masked.value(0).as_ref(),
            Some(literals(&document)[0].as_ref())
        );
    }

    for written in [
        r#""\uD83D\uDE00""#,
        r#""\u{1F600}""#,
        r#""\x""#,
        r#""\u00""#,
        r#""\u+123""#,
        r#""\u12\" x""#,
    ] {
        let text = format!("{{ a(b: {written}) }}");
        assert_eq!(Masked::of(&text).unwrap().value(0), None, "{written}");
    }
}

#[test]
fn random_documents_have_the_literals_that_the_parser_finds() {
    let mut random = StdRng::seed_from_u64(20_261_123);
    for _ in 0..3_000 {
        let text = Writer::document(&mut random);
        let document = parse(&text);
        let expected: Vec<_> = literals(&document)
            .into_iter()
            .filter(|literal| !text[literal.location().unwrap().offset()..].starts_with("\"\"\""))
            .collect();
        let Some(masked) = Masked::of(&text) else {
            assert!(
                expected.is_empty() || expected.len() > MAX_LITERALS,
                "{text}"
            );
            continue;
        };

        assert_eq!(masked.len(), expected.len(), "{text}");
        for literal in expected {
            let number = masked.starting_at(literal.location().unwrap().offset());
            let number = number.unwrap_or_else(|| panic!("{literal:?} in {text}"));
            assert_eq!(masked.value(number).as_ref(), Some(&**literal), "{text}");
        }
        assert_round_trip(&text, &masked);
    }
}

/// Checks that the key with the literals is the text, and that other literals have the same key.
fn assert_round_trip(text: &str, masked: &Masked<'_>) {
    let marks = |c: char| ('\u{1}'..='\u{3}').contains(&c);
    let (mut same, mut other, mut number) = (String::new(), String::new(), 0);

    for c in masked.key.chars() {
        if !marks(c) {
            same.push(c);
            other.push(c);
            continue;
        }
        same.push_str(masked.written(number));
        other.push_str(match masked.value(number) {
            Some(Value::Int(_)) => "-12345",
            Some(Value::Float(_)) => "0.25e-3",
            _ => r#""){ # \" \\""#,
        });
        number += 1;
    }

    assert_eq!(same, text);
    assert_eq!(Masked::of(&other).unwrap().key, masked.key, "{other}");
    assert_eq!(masked.key_where(|_| false), text);
}

/// The numbers and strings in the arguments of a document's fields.
fn literals(document: &Document) -> Vec<&Node<Value>> {
    let mut found = Vec::new();
    for definition in &document.definitions {
        match definition {
            Definition::OperationDefinition(operation) => {
                in_selections(&operation.selection_set, &mut found);
            }
            Definition::FragmentDefinition(fragment) => {
                in_selections(&fragment.selection_set, &mut found);
            }
            _ => {}
        }
    }
    found
}

fn in_selections<'a>(selections: &'a [Selection], found: &mut Vec<&'a Node<Value>>) {
    for selection in selections {
        match selection {
            Selection::Field(field) => {
                for argument in &field.arguments {
                    in_value(&argument.value, found);
                }
                in_selections(&field.selection_set, found);
            }
            Selection::InlineFragment(fragment) => in_selections(&fragment.selection_set, found),
            Selection::FragmentSpread(_) => {}
        }
    }
}

fn in_value<'a>(value: &'a Node<Value>, found: &mut Vec<&'a Node<Value>>) {
    match &**value {
        Value::List(items) => items.iter().for_each(|item| in_value(item, found)),
        Value::Object(fields) => fields.iter().for_each(|(_, value)| in_value(value, found)),
        Value::Int(_) | Value::Float(_) | Value::String(_) => found.push(value),
        _ => {}
    }
}

/// Writes random documents.
struct Writer<'r> {
    random: &'r mut StdRng,
    text: String,
}

impl<'r> Writer<'r> {
    fn document(random: &'r mut StdRng) -> String {
        let mut writer = Self {
            random,
            text: String::new(),
        };

        match writer.random.random_range(0..3) {
            0 => {}
            1 => writer.text += "query Q($a: Int = 5, $b: [String!] = [\"x\", \"(\"]) @d(n: 1) ",
            _ => writer.text += "\"What (it) is, 1\" query Q ",
        }
        writer.selections(0);
        if writer.chance(3) {
            writer.text += " fragment F on T @d(s: \"1\") ";
            writer.selections(1);
        }

        writer.text
    }

    fn chance(&mut self, of: u32) -> bool {
        self.random.random_range(0..of) == 0
    }

    fn pick(&mut self, any: &[&str]) {
        let index = self.random.random_range(0..any.len());
        self.text += any[index];
    }

    fn space(&mut self) {
        self.pick(&[" ", ",", "\n", "\t", " # 1 \"x\" (\n", " , ", "\r\n"]);
    }

    fn selections(&mut self, depth: u32) {
        self.text.push('{');
        for _ in 0..self.random.random_range(1..4) {
            self.space();
            match self.random.random_range(0..6) {
                0 => self.text += "...F",
                1 if depth < 3 => {
                    self.text += "... on T @include(if: true) ";
                    self.selections(depth + 1);
                }
                _ => self.field(depth),
            }
        }
        self.space();
        self.text.push('}');
    }

    fn field(&mut self, depth: u32) {
        self.pick(&["a", "b1", "_c", "alias: d", "x: query"]);
        if !self.chance(3) {
            self.text.push('(');
            for name in ["k", "e1", "on"] {
                self.text += name;
                self.pick(&[":", ": ", " :\n"]);
                self.value(0);
                self.space();
            }
            self.text.push(')');
        }
        if self.chance(4) {
            self.pick(&["@skip(if: $v)", "@d(n: 5, s: \"x\")", "@d(l: [1.5])", "@d"]);
        }
        if depth < 3 && self.chance(3) {
            self.selections(depth + 1);
        }
    }

    fn value(&mut self, depth: u32) {
        match self.random.random_range(0..8) {
            0 if depth < 3 => {
                self.text.push('[');
                for _ in 0..self.random.random_range(0..4) {
                    self.value(depth + 1);
                    self.space();
                }
                self.text.push(']');
            }
            1 if depth < 3 => {
                self.text.push('{');
                for name in ["f", "g2"] {
                    self.text += name;
                    self.text.push(':');
                    self.value(depth + 1);
                    self.space();
                }
                self.text.push('}');
            }
            2 => self.pick(&["true", "null", "RED", "$v", "false"]),
            3 => self.pick(&["\"\"\"a \"q\" # { (\"\"\"", "\"\"\"\\\"\"\" 1\n 2\"\"\""]),
            4 => self.pick(&["0", "-0", "7", "-12", "123456789012345678901"]),
            5 => self.pick(&["0.5", "-1.25e10", "3E+2", "10e-1"]),
            _ => self.pick(&[
                r#""""#,
                r#""x""#,
                r##""# } ) ] , é 😀""##,
                r#""\"\\""#,
                r#""\\\"(\n\u00e9""#,
                r#""@ $ { 1 2.5""#,
            ]),
        }
    }
}
