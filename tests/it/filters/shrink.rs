//! Makes a filter smaller.

use serde_json::Value;

/// The same filter with one part less, in every way; parts that belong together stay.
pub(super) fn smaller(filter: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    match filter {
        Value::Object(fields) if !fields.contains_key("from") => {
            for key in fields.keys() {
                let mut fewer = fields.clone();
                fewer.remove(key);
                if !fewer.is_empty() {
                    found.push(fewer.into());
                }
            }
            for (key, value) in fields {
                match key.as_str() {
                    "NOT" => found.push(value.clone()),
                    "AND" | "OR" => found.extend(value.as_array().into_iter().flatten().cloned()),
                    _ => {}
                }
                for inner in smaller(value) {
                    let mut other = fields.clone();
                    other.insert(key.clone(), inner);
                    found.push(other.into());
                }
            }
        }
        Value::Array(items) => {
            for index in 0..items.len() {
                let mut fewer = items.clone();
                fewer.remove(index);
                found.push(fewer.into());
                for inner in smaller(&items[index]) {
                    let mut other = items.clone();
                    other[index] = inner;
                    found.push(other.into());
                }
            }
        }
        _ => {}
    }
    found
}
