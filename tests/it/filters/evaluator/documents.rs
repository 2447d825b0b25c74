//! JSON, as `jsonb` compares it.

use serde_json::{Value, json};

use super::text_of;

/// The same with all numbers in one form.
pub(super) fn normal(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(normal).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), normal(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

pub(super) fn holds(operator: &str, stored: &Value, given: &Value) -> bool {
    let keys = || given.as_array().expect("a list").iter().map(text_of);
    match operator {
        "has_key" => has_key(stored, text_of(given)),
        "has_any_keys" => keys().any(|key| has_key(stored, key)),
        "has_all_keys" => keys().all(|key| has_key(stored, key)),
        "contains" => contains(stored, given, true),
        "contained_by" => contains(given, stored, true),
        _ => path_exists(stored, text_of(given)),
    }
}

fn has_key(value: &Value, key: &str) -> bool {
    match value {
        Value::Object(fields) => fields.contains_key(key),
        Value::Array(items) => items.iter().any(|item| item == key),
        other => other == key,
    }
}

fn contains(outer: &Value, inner: &Value, top: bool) -> bool {
    match (outer, inner) {
        (Value::Object(outer), Value::Object(inner)) => inner.iter().all(|(key, value)| {
            outer
                .get(key)
                .is_some_and(|found| contains(found, value, false))
        }),
        (Value::Array(outer), Value::Array(inner)) => inner
            .iter()
            .all(|item| outer.iter().any(|found| contains(found, item, false))),
        // A list contains a value that stands alone.
        (Value::Array(outer), inner) if top && !inner.is_object() => {
            outer.iter().any(|found| normal(found) == normal(inner))
        }
        (outer, inner) => normal(outer) == normal(inner),
    }
}

/// The paths that the generator asks for: `$.key`, and `$.key[*] ? (@ > number)`.
fn path_exists(value: &Value, path: &str) -> bool {
    let (key, least) = match path.split_once("[*] ? (@ > ") {
        Some((key, number)) => (key, number.trim_end_matches(')').parse::<f64>().ok()),
        None => (path, None),
    };
    let key = key.trim_start_matches("$.");
    let holders: Vec<&Value> = value
        .as_array()
        .map_or_else(|| vec![value], |items| items.iter().collect());
    holders
        .into_iter()
        .filter_map(|holder| holder.get(key))
        .any(|found| match (least, found) {
            (None, _) => true,
            (Some(least), Value::Array(items)) => items
                .iter()
                .any(|item| item.as_f64().is_some_and(|item| item > least)),
            (Some(least), other) => other.as_f64().is_some_and(|other| other > least),
        })
}
