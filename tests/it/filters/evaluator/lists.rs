//! Lists of scalars.

use serde_json::Value;

use super::super::fields::Kind;
use super::key::equal;

pub(super) fn holds(element: Kind, operator: &str, stored: &Value, given: &Value) -> bool {
    let items = stored.as_array().expect("a list");
    let has = |list: &[Value], one: &Value| list.iter().any(|other| equal(element, one, other));
    let length = items.len() as i64;
    match (operator, given) {
        ("contains", Value::Array(given)) => given.iter().all(|one| has(items, one)),
        ("contained_by", Value::Array(given)) => items.iter().all(|one| has(given, one)),
        ("overlaps", Value::Array(given)) => items.iter().any(|one| has(given, one)),
        ("is_empty", given) => given.as_bool() == Some(items.is_empty()),
        ("len_eq", given) => length == given.as_i64().expect("a number"),
        ("len_gt", given) => length > given.as_i64().expect("a number"),
        ("len_gte", given) => length >= given.as_i64().expect("a number"),
        ("len_lt", given) => length < given.as_i64().expect("a number"),
        (_, given) => length <= given.as_i64().expect("a number"),
    }
}
