//! The type for comparisons of a column, given the type that its field declares.

use super::operand::json_cast;
use svc_core::scalar::{is_between_reals, is_canonical, is_finer_than_micros, to_micros, to_real};
use svc_core::schema::{ScalarKind, TypeKind};
use svc_postgres::ColumnType;

/// The casts of a column and of the values that it is compared with.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cast {
    /// The conversion of the column itself.
    pub(super) column: Conversion,
    /// The type of the values.
    pub(super) value: String,
    /// The type of both if a value does not fit the column's own type.
    pub(super) fallback: Option<&'static str>,
}

/// A conversion of a column for a comparison.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    /// No conversion, so that the column's index can be used.
    None,
    To(String),
    /// Interprets a `timestamp` as an instant in UTC.
    Instant,
    Json,
}

impl Cast {
    fn own(value: &str) -> Self {
        // Without a length, these two mean a length of one and truncate their values.
        let value = match value {
            "character" => "bpchar",
            "bit" => "pg_catalog.bit",
            other => other,
        };

        Self {
            column: Conversion::None,
            value: value.to_owned(),
            fallback: None,
        }
    }

    fn to(ty: &str) -> Self {
        Self {
            column: Conversion::To(ty.to_owned()),
            value: ty.to_owned(),
            fallback: None,
        }
    }

    fn or(self, fallback: &'static str) -> Self {
        Self {
            fallback: Some(fallback),
            ..self
        }
    }

    /// The cast of a column with a single value; `kind` is the type of its field, if it is a field.
    pub(super) fn single(ty: &ColumnType, kind: Option<&TypeKind>) -> Self {
        use ScalarKind as K;

        let declared = kind.and_then(json_cast);
        let scalar = scalar(kind);
        match (ty.name.as_str(), scalar) {
            // PostgreSQL has no equality operator for `json`.
            ("json", Some(K::Json) | None) => Self::to("jsonb"),
            ("jsonb", _) => Self::own("jsonb"),
            // Clients see such a column as JSON, so it compares as JSON and not as its own type.
            (_, Some(K::Json)) => Self {
                column: Conversion::Json,
                ..Self::own("jsonb")
            },
            ("varchar" | "bpchar" | "name" | "text" | "citext", _) => match declared {
                // As texts, `10` would be less than `9`; the declared type decides.
                Some(other) if other != "text" => Self::to(other),
                // The comparison ignores case only if both sides are `citext`.
                _ if ty.name == "citext" => Self::own(&ty.sql),
                // Trailing blanks, which clients receive, are insignificant in this type.
                _ if ty.name == "bpchar" => Self::own("bpchar"),
                _ => Self::own("text"),
            },
            // Integers compare as the widest type, so that no value overflows. An id that is no
            // integer, such as `abc`, must match no row instead of failing the statement, so it
            // compares as text.
            ("int2" | "int4" | "int8", Some(K::String | K::Id)) => Self::own("int8").or("text"),
            ("int2" | "int4" | "int8", _) if declared == Some("numeric") => {
                Self::own("int8").or("numeric")
            }
            ("int2" | "int4" | "int8", _) => Self::own("int8"),
            ("float4" | "float8", None | Some(K::Float | K::Custom(_))) => Self::own(&ty.name),
            ("uuid", Some(K::String | K::Id)) => Self::own("uuid").or("text"),
            // Other types that a string field shows compare as text.
            (_, Some(K::String | K::Id)) => Self::to("text"),
            ("timestamp", Some(K::DateTime)) => Self {
                column: Conversion::Instant,
                ..Self::own("timestamptz")
            },
            // Both compare as one type, so that one index serves both.
            ("inet" | "cidr", _) => {
                Self::own(declared.filter(|cast| is_network(cast)).unwrap_or("inet"))
            }
            // A domain may round or reject the values.
            ("numeric" | "time" | "timestamp" | "timestamptz" | "date" | "interval", _) => {
                Self::own(&ty.name)
            }
            _ => Self::own(&ty.sql),
        }
    }

    /// The cast of an array column, named by its element type.
    pub(super) fn list(ty: &ColumnType, kind: Option<&TypeKind>) -> Self {
        use ScalarKind as K;

        let element = element_of(ty);
        let (convert, same) = (
            |ty: &str| Self::array(ty),
            || match ty.plain_array {
                Some(_) => Self::array(element),
                None => Self::own(element),
            },
        );

        let Some(declared) = kind.and_then(json_cast) else {
            return same();
        };

        let scalar = scalar(kind);

        match (element, scalar) {
            _ if is_text_element(element) && declared == "text" => same(),
            _ if is_text_element(element) => convert(declared),
            // A cast of the column would hide its index, so it is avoided where all values of the
            // scalar fit.
            ("integer", Some(K::Int)) | ("bigint", Some(K::Int | K::BigInt)) => same(),
            // A value beyond the element type would fail the whole statement.
            ("smallint" | "integer", Some(K::Int | K::BigInt)) => convert("bigint"),
            ("smallint" | "integer" | "bigint", _) if declared == "numeric" => convert("numeric"),
            ("inet" | "cidr", _) if is_network(declared) && element != declared => convert("inet"),
            ("macaddr", _) if declared == "macaddr8" => convert("macaddr8"),
            (_, Some(K::String | K::Id)) => convert("text"),
            _ => same(),
        }
    }

    fn array(element: &str) -> Self {
        Self {
            column: Conversion::To(format!("{element}[]")),
            value: element.to_owned(),
            fallback: None,
        }
    }
}

/// Whether a column is an array of texts.
pub(super) fn is_text_list(ty: &ColumnType) -> bool {
    ty.is_list() && is_text_element(element_of(ty))
}

/// The type of an array's elements: underneath a domain, which would reject values that its column
/// cannot contain.
fn element_of(ty: &ColumnType) -> &str {
    ty.plain_array
        .as_ref()
        .unwrap_or(&ty.sql)
        .trim_end_matches("[]")
}

fn is_text_element(element: &str) -> bool {
    matches!(
        element,
        "text" | "character varying" | "character" | "name" | "citext"
    )
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

/// Whether [`is_value`] rejects any text for a type.
pub(in crate::sql) fn is_checked(cast: &str) -> bool {
    matches!(cast, "int8" | "uuid" | "macaddr") || rounds(cast)
}

/// Whether PostgreSQL rounds values of a type on input, so that a text may denote a value between
/// two of the type.
pub(in crate::sql) fn rounds(cast: &str) -> bool {
    has_micros(cast) || is_real(cast)
}

/// Whether a text denotes a value between two values of a type.
pub(in crate::sql) fn is_between(cast: &str, text: &str) -> bool {
    (has_micros(cast) && is_finer_than_micros(text)) || (is_real(cast) && is_between_reals(text))
}

/// The greatest value of a type that is not greater than the given one.
pub(in crate::sql) fn round_down(cast: &str, text: &str) -> String {
    if is_real(cast) {
        to_real(text)
    } else {
        to_micros(text)
    }
}

fn is_real(cast: &str) -> bool {
    matches!(cast, "float4" | "real")
}

/// Whether PostgreSQL rounds the values of a type to microseconds.
fn has_micros(cast: &str) -> bool {
    matches!(cast, "timestamptz" | "timestamp" | "time")
        || matches!(
            cast,
            "timestamp with time zone" | "timestamp without time zone" | "time without time zone"
        )
}

/// Whether `text` is a value of a type, for types that PostgreSQL parses strictly; the schema
/// checks the others.
pub(in crate::sql) fn is_value(cast: &str, text: &str) -> bool {
    match cast {
        // In canonical form only, since `007` is another id than `7`.
        "int8" => text
            .parse::<i64>()
            .is_ok_and(|number| number.to_string() == text),
        "uuid" => is_uuid(text),
        // An address of 64 bits is valid for the scalar, but not for this type.
        "macaddr" => text.bytes().filter(u8::is_ascii_hexdigit).count() == 12,
        cast => !is_between(cast, text),
    }
}

/// Whether PostgreSQL reads a text as a UUID; the crate also reads URNs, which PostgreSQL rejects.
pub(crate) fn is_uuid(text: &str) -> bool {
    // Fast path for the form that clients get.
    is_canonical(ScalarKind::Uuid, text.as_bytes())
        || uuid::Uuid::try_parse(text).is_ok() && !text.contains(':')
}
