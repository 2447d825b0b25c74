//! The type as which a column is compared, given the type that its field declares.

use super::operand::json_cast;
use crate::postgres::ColumnType;
use crate::scalar::{is_between_reals, is_finer_than_micros, to_micros, to_real};
use crate::schema::{ScalarKind, TypeKind};

/// The types as which a column and the values that it is compared with are read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cast {
    /// The conversion of the column itself.
    pub(super) column: Conversion,
    /// The type of the values.
    pub(super) value: String,
    /// The type of both when a value is not one of the column's own type.
    pub(super) fallback: Option<&'static str>,
}

/// A conversion of a column before it is compared.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    /// Nothing, so that its index can be used.
    None,
    To(String),
    /// A `timestamp` is an instant in UTC.
    Instant,
    Json,
}

impl Cast {
    fn own(value: &str) -> Self {
        // Without a length these two mean a length of one, and cut what they are given.
        let value = match value {
            "character" => "bpchar",
            "bit" => "pg_catalog.bit",
            other => other,
        };
        Self { column: Conversion::None, value: value.to_owned(), fallback: None }
    }

    fn to(ty: &str) -> Self {
        Self { column: Conversion::To(ty.to_owned()), value: ty.to_owned(), fallback: None }
    }

    fn or(self, fallback: &'static str) -> Self {
        Self { fallback: Some(fallback), ..self }
    }

    /// The cast of a column that holds one value; `kind` is that of its field, if it is one.
    pub(super) fn single(ty: &ColumnType, kind: Option<&TypeKind>) -> Self {
        use ScalarKind as K;
        let declared = kind.and_then(json_cast);
        let scalar = scalar(kind);
        match (ty.name.as_str(), scalar) {
            ("json", Some(K::Json) | None) => Self::to("jsonb"),
            ("jsonb", _) => Self::own("jsonb"),
            (_, Some(K::Json)) => Self { column: Conversion::Json, ..Self::own("jsonb") },
            ("varchar" | "bpchar" | "name" | "text" | "citext", _) => match declared {
                Some(other) if other != "text" => Self::to(other),
                _ if ty.name == "citext" => Self::own(&ty.sql),
                // Blanks at the end, which a client is sent, make no difference there.
                _ if ty.name == "bpchar" => Self::own("bpchar"),
                _ => Self::own("text"),
            },
            // Integers compare as the widest, so that no value overflows.
            ("int2" | "int4" | "int8", Some(K::String | K::Id)) => Self::own("int8").or("text"),
            ("int2" | "int4" | "int8", _) if declared == Some("numeric") => Self::own("int8").or("numeric"),
            ("int2" | "int4" | "int8", _) => Self::own("int8"),
            ("float4" | "float8", None | Some(K::Float | K::Custom(_))) => Self::own(&ty.name),
            ("uuid", Some(K::String | K::Id)) => Self::own("uuid").or("text"),
            // Whatever a string field shows, text is what it is asked for.
            (_, Some(K::String | K::Id)) => Self::to("text"),
            ("timestamp", Some(K::DateTime)) => Self { column: Conversion::Instant, ..Self::own("timestamptz") },
            // Both compare as one type, whose index serves both.
            ("inet" | "cidr", _) => Self::own(declared.filter(|cast| is_network(cast)).unwrap_or("inet")),
            // A domain may round what it is given, or refuse it.
            ("numeric" | "time" | "timestamp" | "timestamptz" | "date" | "interval", _) => Self::own(&ty.name),
            _ => Self::own(&ty.sql),
        }
    }

    /// The cast of an array column, named by the type of its elements.
    pub(super) fn list(ty: &ColumnType, kind: Option<&TypeKind>) -> Self {
        use ScalarKind as K;
        // A domain would refuse values that its column cannot have.
        let array = ty.plain_array.as_ref().unwrap_or(&ty.sql);
        let element = array.trim_end_matches("[]");
        let (convert, same) = (
            |ty: &str| Self::array(ty),
            || match ty.plain_array {
                Some(_) => Self::array(element),
                None => Self::own(element),
            },
        );
        let Some(declared) = kind.and_then(json_cast) else { return same() };
        let scalar = scalar(kind);
        match (element, scalar) {
            ("text" | "character varying" | "character" | "name" | "citext", _) if declared == "text" => same(),
            ("text" | "character varying" | "character" | "name" | "citext", _) => convert(declared),
            ("integer", Some(K::Int)) | ("bigint", Some(K::Int | K::BigInt)) => same(),
            ("smallint" | "integer", Some(K::Int | K::BigInt)) => convert("bigint"),
            ("smallint" | "integer" | "bigint", _) if declared == "numeric" => convert("numeric"),
            ("inet" | "cidr", _) if is_network(declared) && element != declared => convert("inet"),
            ("macaddr", _) if declared == "macaddr8" => convert("macaddr8"),
            (_, Some(K::String | K::Id)) => convert("text"),
            _ => same(),
        }
    }

    fn array(element: &str) -> Self {
        Self { column: Conversion::To(format!("{element}[]")), value: element.to_owned(), fallback: None }
    }
}

fn scalar(kind: Option<&TypeKind>) -> Option<ScalarKind> {
    match kind {
        Some(TypeKind::Scalar { kind, .. }) => Some(*kind),
        _ => None,
    }
}

fn is_network(cast: &str) -> bool {
    matches!(cast, "inet" | "cidr")
}

/// Whether [`is_value`] refuses anything.
pub(super) fn is_checked(cast: &str) -> bool {
    matches!(cast, "int8" | "uuid" | "macaddr") || rounds(cast)
}

/// Whether PostgreSQL rounds what it reads as a type, so that a value may lie between two of it.
pub(super) fn rounds(cast: &str) -> bool {
    has_micros(cast) || is_real(cast)
}

/// Whether a value lies between two of a type.
pub(super) fn is_between(cast: &str, text: &str) -> bool {
    (has_micros(cast) && is_finer_than_micros(text)) || (is_real(cast) && is_between_reals(text))
}

/// The last value of a type that is not after the one that is given.
pub(super) fn round_down(cast: &str, text: &str) -> String {
    if is_real(cast) { to_real(text) } else { to_micros(text) }
}

fn is_real(cast: &str) -> bool {
    matches!(cast, "float4" | "real")
}

/// Whether the values of a type are rounded to microseconds.
fn has_micros(cast: &str) -> bool {
    matches!(cast, "timestamptz" | "timestamp" | "time")
        || matches!(cast, "timestamp with time zone" | "timestamp without time zone" | "time without time zone")
}

/// Whether `text` is a value of a type, as far as PostgreSQL is strict about it; other types check in the schema.
pub(super) fn is_value(cast: &str, text: &str) -> bool {
    match cast {
        // In its one form, since `007` is another id than `7`.
        "int8" => text.parse::<i64>().is_ok_and(|number| number.to_string() == text),
        "uuid" => uuid::Uuid::try_parse(text).is_ok(),
        "macaddr" => text.bytes().filter(u8::is_ascii_hexdigit).count() == 12,
        cast => !is_between(cast, text),
    }
}
