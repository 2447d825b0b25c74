//! Random documents, read as serde reads them.

use std::fmt::Write as _;

use rand::rngs::StdRng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Map, Value};

use super::{Json, Keys, Node as _, field_bounds};
use crate::graphql::plan::Leaf;
use svc_core::schema::ScalarKind;

const NAMES: [&str; 14] = [
    "a",
    "b",
    "id",
    "name",
    "ab",
    "ba",
    "längs",
    "a b",
    "q\"",
    "back\\",
    "back\\n",
    "tab\t",
    "",
    "a\": 1, \"b",
];
const TEXTS: [&str; 12] = [
    "",
    "a",
    "ü",
    "\"",
    "\\",
    "\n",
    "\u{1}",
    "😀",
    "12345678",
    "{\"a\": 1}",
    "]",
    "a longer text without any escape",
];
const NUMBERS: [&str; 16] = [
    "0",
    "-0",
    "7",
    "-12",
    "1.0",
    "1.50",
    "1e3",
    "-1E-3",
    "999999999",
    "2147483647",
    "2147483648",
    "9007199254740993",
    "123456789012345",
    "1234567890123456",
    "123456789012345678901234567890",
    "0.1000000000000000055511151231257827",
];

struct Documents(StdRng);

/// Writes random JSON values, in all notations that JSON allows.
impl Documents {
    fn value(&mut self, depth: usize, out: &mut String) {
        match self.0.random_range(0..if depth == 0 { 6 } else { 9 }) {
            0 => out.push_str("null"),
            1 => out.push_str(["true", "false"].choose(&mut self.0).unwrap()),
            2 => out.push_str(NUMBERS.choose(&mut self.0).unwrap()),
            3..6 => {
                let text: String = (0..self.0.random_range(0..4))
                    .map(|_| *TEXTS.choose(&mut self.0).unwrap())
                    .collect();
                self.string(&text, out);
            }
            6 => {
                out.push('[');
                for index in 0..self.0.random_range(0..4) {
                    self.comma(index, out);
                    self.value(depth - 1, out);
                }
                self.space(out);
                out.push(']');
            }
            _ => self.object(depth - 1, out),
        }
    }

    fn object(&mut self, depth: usize, out: &mut String) {
        let count = self.0.random_range(0..8);
        let mut names: Vec<_> = NAMES.choose_multiple(&mut self.0, count).copied().collect();
        if self.0.random_bool(0.5) {
            names.sort_unstable_by_key(|name| (name.len(), *name));
        }

        out.push('{');

        for (index, name) in names.into_iter().enumerate() {
            self.comma(index, out);
            self.string(name, out);
            self.space(out);
            out.push(':');
            self.space(out);
            self.value(depth, out);
        }

        self.space(out);

        out.push('}');
    }

    fn comma(&mut self, index: usize, out: &mut String) {
        if index > 0 {
            out.push(',');
        }
        self.space(out);
    }

    fn space(&mut self, out: &mut String) {
        out.push_str(
            ["", "", " ", " ", "\n\t ", "\r\n"]
                .choose(&mut self.0)
                .unwrap(),
        );
    }

    fn string(&mut self, text: &str, out: &mut String) {
        if self.0.random_bool(0.7) {
            out.push_str(&serde_json::to_string(text).unwrap());
            return;
        }

        out.push('"');
        for unit in text.encode_utf16() {
            let _ = write!(out, "\\u{unit:04X}");
        }

        out.push('"');
    }
}

fn parsed(json: Json<'_>) -> Value {
    serde_json::from_slice(json.bytes()).unwrap()
}

/// Writes a value like PostgreSQL writes `jsonb`, except for numbers.
fn jsonb(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                jsonb(item, out);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| (name.len(), *name));
            out.push('{');
            for (index, (name, value)) in fields.into_iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                let _ = write!(out, "{}: ", serde_json::to_string(name).unwrap());
                jsonb(value, out);
            }
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

fn check(json: Json<'_>, fields: &Map<String, Value>, names: &[&'static str], text: &str) {
    let keys = Keys::new(names.iter().map(|name| Some(*name)));
    let slots = json.slots(&keys);
    for (index, name) in names.iter().enumerate() {
        let expected = fields.get(*name).cloned().unwrap_or(Value::Null);
        let slot = slots[keys.of_field(index).unwrap()];
        assert_eq!(parsed(slot), expected, "{name:?} of {text}");
        assert_eq!(
            json.get(name).map_or(Value::Null, parsed),
            expected,
            "{name:?} of {text}"
        );
    }
}

#[test]
fn keys_are_found_as_serde_finds_them() {
    let mut documents = Documents(StdRng::seed_from_u64(11));
    for _ in 0..5_000 {
        let mut text = String::new();
        documents.object(3, &mut text);
        let Value::Object(fields) = serde_json::from_str(&text).unwrap() else {
            unreachable!()
        };

        let mut names = NAMES.to_vec();
        names.shuffle(&mut documents.0);
        names.truncate(documents.0.random_range(0..NAMES.len()));
        names.extend_from_within(..names.len() / 3);
        check(Json::new(text.as_bytes()), &fields, &names, &text);

        let mut text = String::new();
        jsonb(&Value::Object(fields.clone()), &mut text);

        check(Json::of_jsonb(text.as_bytes()), &fields, &names, &text);
    }
}

#[test]
fn items_are_found_as_serde_finds_them() {
    let mut documents = Documents(StdRng::seed_from_u64(12));
    for _ in 0..2_000 {
        let mut text = "[".to_owned();
        for index in 0..documents.0.random_range(0..5) {
            documents.comma(index, &mut text);
            documents.value(3, &mut text);
        }

        documents.space(&mut text);
        text.push(']');
        let mut items = Vec::new();
        let json = Json::new(text.as_bytes());
        let visited = json.each(|_, item| {
            items.push(parsed(item));
            Ok(())
        });

        assert_eq!(
            (visited, Value::Array(items)),
            (Some(Ok(())), serde_json::from_str(&text).unwrap()),
            "{text}"
        );
    }
}

#[test]
fn the_last_of_duplicate_keys_counts() {
    let keys = Keys::new([Some("a"), None, Some("b"), Some("a")].into_iter());
    let slots = Json::new(br#"{"a": 1, "a": {"b": 5}, "c": 2, "b": 3, "a": 4}"#).slots(&keys);
    let of_field = |index| {
        keys.of_field(index)
            .and_then(|slot| slots.get(slot))
            .map(|json| json.bytes())
    };

    assert_eq!(
        [of_field(0), of_field(1), of_field(2)],
        [Some(&b"4"[..]), None, Some(&b"3"[..])]
    );

    assert_eq!(of_field(3), of_field(0));
}

#[test]
fn only_objects_have_keys() {
    for text in [
        "null",
        "[]",
        "[\"a\"]",
        "\"a\"",
        "1",
        "",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\": \"",
        "{\"",
        "\"",
        "\\",
    ] {
        for json in [Json::new(text.as_bytes()), Json::of_jsonb(text.as_bytes())] {
            let value = json.get("b").map(Json::bytes);
            assert_eq!(value, None, "{text}");
            assert!(
                json.each(|_, _| Ok(())).is_none() || text.starts_with('['),
                "{text}"
            );
        }
    }
}

#[test]
fn the_notation_of_a_scalar_does_not_matter() {
    let mut documents = Documents(StdRng::seed_from_u64(13));
    for _ in 0..5_000 {
        let mut text = String::new();
        documents.value(0, &mut text);
        let value: Value = serde_json::from_str(&text).unwrap();
        let number = text.parse::<f64>().ok();
        let integer = text.parse::<i64>().ok().or(number
            .filter(|n| n.fract() == 0.0 && n.abs() < 9e15)
            .map(|n| n as i64));
        let leaf = |kind| {
            // Also as part of a document, where the scan has already classified the value.
            let document = format!("{{\"k\": {text}}}");
            let (mut alone, mut inside) = (Vec::new(), Vec::new());
            let leaf = Leaf::Scalar(kind);
            let written = Json::new(text.as_bytes()).leaf(&leaf, &mut alone);
            let slots =
                Json::of_jsonb(document.as_bytes()).slots(&Keys::new([Some("k")].into_iter()));
            assert_eq!(slots[0].leaf(&leaf, &mut inside), written, "{text}");
            assert_eq!(alone, inside, "{text}");
            written.ok().map(|()| String::from_utf8(alone).unwrap())
        };

        assert_eq!(
            leaf(ScalarKind::String),
            value.as_str().map(|_| value.to_string()),
            "{text}"
        );

        let int = integer.and_then(|value| i32::try_from(value).ok());
        assert_eq!(
            leaf(ScalarKind::Int),
            int.map(|value| value.to_string()),
            "{text}"
        );

        let float = leaf(ScalarKind::Float).map(|text| text.parse::<f64>().unwrap());
        assert_eq!(float, number.filter(|_| value.is_number()), "{text}");
        let big = integer
            .filter(|_| value.is_number())
            .map(|value| value.to_string());

        if value.is_number() {
            assert_eq!(
                leaf(ScalarKind::BigInt).map(|text| text.trim_matches('"').to_owned()),
                big,
                "{text}"
            );
        }
    }
}

#[test]
fn fields_of_a_response_are_found_by_position() {
    let object: &[u8] = br#"{"a":"}, \"b\":{","b":{"c":[1,{"d":null}]},"q":null,"e":1.5}"#;
    let field = |index| field_bounds(object, None, index).map(|bounds| &object[bounds]);
    assert_eq!(field(0), Some(br#""}, \"b\":{""#.as_slice()));
    assert_eq!(field(1), Some(br#"{"c":[1,{"d":null}]}"#.as_slice()));
    assert_eq!(field(2), Some(b"null".as_slice()));
    assert_eq!(field(3), Some(b"1.5".as_slice()));
    assert_eq!(field(4), None);
    assert_eq!(field_bounds(b"{}", None, 0), None);
    assert_eq!(field_bounds(b"null", None, 0), None);

    for first in 0..4 {
        let end = field_bounds(object, None, first).unwrap().end;
        for index in first + 1..6 {
            assert_eq!(
                field_bounds(object, Some((first, end)), index),
                field_bounds(object, None, index)
            );
        }
    }
}
