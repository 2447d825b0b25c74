//! The meaning of a filter, in plain Rust.

mod documents;
mod key;
mod lists;
mod networks;
mod search;
mod text;

use serde_json::Value;

use super::fields::{Field, Kind, field};
use key::{Key, equal};

/// Whether a row, or an embedded object, matches a filter.
pub(super) fn matches(fields: &'static [Field], row: &Value, filter: &Value) -> bool {
    let all = |filters: &Value| {
        filters
            .as_array()
            .expect("a list")
            .iter()
            .all(|filter| matches(fields, row, filter))
    };
    filter
        .as_object()
        .expect("an object")
        .iter()
        .all(|(name, condition)| match name.as_str() {
            "AND" => all(condition),
            "OR" => condition
                .as_array()
                .expect("a list")
                .iter()
                .any(|filter| matches(fields, row, filter)),
            "NOT" => !matches(fields, row, condition),
            name => {
                let Field(name, kind) = field(fields, name);
                holds(kind, &row[name], condition)
            }
        })
}

fn holds(kind: Kind, stored: &Value, condition: &Value) -> bool {
    let conditions = condition.as_object().expect("an object");
    match kind {
        Kind::Object(fields) => matches(fields, stored, condition),
        Kind::Objects(fields) => conditions.iter().all(|(quantifier, filter)| {
            let mut elements = stored.as_array().into_iter().flatten();
            match quantifier.as_str() {
                "some" => elements.any(|element| matches(fields, element, filter)),
                "every" => elements.all(|element| matches(fields, element, filter)),
                _ => !elements.any(|element| matches(fields, element, filter)),
            }
        }),
        kind => conditions
            .iter()
            .all(|(operator, given)| compare(kind, operator, stored, given)),
    }
}

fn compare(kind: Kind, operator: &str, stored: &Value, given: &Value) -> bool {
    let is_in = || {
        given
            .as_array()
            .expect("a list")
            .iter()
            .any(|one| equal(kind, stored, one))
    };
    match operator {
        "isnull" => given.as_bool() == Some(stored.is_null()),
        "eq" if given.is_null() => stored.is_null(),
        "neq" if given.is_null() => !stored.is_null(),
        _ if given.is_null() => false,
        "neq" => stored.is_null() || !equal(kind, stored, given),
        "nin" => stored.is_null() || !is_in(),
        _ if stored.is_null() => false,
        "eq" => equal(kind, stored, given),
        "in" => is_in(),
        "gt" => Key::of(kind, stored) > Key::of(kind, given),
        "gte" => Key::of(kind, stored) >= Key::of(kind, given),
        "lt" => Key::of(kind, stored) < Key::of(kind, given),
        "lte" => Key::of(kind, stored) <= Key::of(kind, given),
        other => match kind {
            Kind::List(element) => lists::holds(*element, other, stored, given),
            Kind::Json => documents::holds(other, stored, given),
            Kind::Inet | Kind::Cidr => networks::holds(kind, other, stored, given),
            Kind::Search => search::holds(other, text_of(stored), text_of(given)),
            Kind::Path => key::path_holds(other, text_of(stored), given),
            Kind::Dates => key::dates_hold(other, text_of(stored), text_of(given)),
            _ => text::holds(other, text_of(stored), text_of(given)),
        },
    }
}

fn text_of(value: &Value) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is not a text"))
}
