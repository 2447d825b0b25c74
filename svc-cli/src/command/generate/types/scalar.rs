//! The Rust types of columns.

use super::catalog::Column;

/// The Rust type for a column's values; none for types that clients cannot read.
pub(super) fn rust_type(column: &Column, enums: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let inner = match column.kind.as_str() {
        "e" => enums(&column.ty)?,
        "c" => "svc::serde_json::Value".to_owned(),
        _ => named(&column.ty)?.to_owned(),
    };

    // An array may contain nulls, even if its column is NOT NULL.
    let ty = if column.is_array {
        format!("Vec<Option<{inner}>>")
    } else {
        inner
    };

    Some(if column.is_required {
        ty
    } else {
        format!("Option<{ty}>")
    })
}

/// The type for the values of a PostgreSQL type; a text for all others.
fn named(ty: &str) -> Option<&'static str> {
    Some(match ty {
        "bool" => "bool",
        "int2" | "int4" => "i32",
        "int8" => "i64",
        "float4" | "float8" => "f64",
        "numeric" => "Decimal",
        "uuid" => "Uuid",
        "timestamptz" | "timestamp" => "DateTime<Utc>",
        "date" => "NaiveDate",
        "time" => "NaiveTime",
        "json" | "jsonb" | "hstore" => "svc::serde_json::Value",
        "interval" => "svc::scalar::Duration",
        "inet" => "svc::scalar::Inet",
        "cidr" => "svc::scalar::Cidr",
        "macaddr" | "macaddr8" => "svc::scalar::MacAddress",
        "ltree" => "svc::scalar::LTree",
        "daterange" => "svc::scalar::DateRange",
        "tsvector" => "svc::scalar::SearchVector",
        // Clients cannot read bytes in any form.
        "bytea" | "record" => return None,
        _ => "String",
    })
}

/// The type of an argument that finds a row by a column, if there is one.
pub(super) fn key_type(column: &str) -> Option<&str> {
    let ty = column
        .strip_prefix("Option<")
        .and_then(|ty| ty.strip_suffix('>'))
        .unwrap_or(column);
    ["i32", "i64", "String", "Uuid"].contains(&ty).then_some(ty)
}
