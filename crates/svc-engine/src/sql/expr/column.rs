//! Columns: whether a column's type fits a field, and its form in the select list.

use tokio_postgres::types::Type;

use svc_core::schema::ScalarKind;
use svc_postgres::Oid;

/// The binary format of a selected column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnForm {
    Bool,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    Text,
    Uuid,
    /// `timestamptz`, or `timestamp` read as UTC.
    Instant,
    Date,
    Time,
    Json,
    Jsonb,
}

impl ColumnForm {
    /// The SQL type with this format.
    pub(crate) fn sql_type(self) -> &'static str {
        match self {
            Self::Bool => "boolean",
            Self::Int2 => "int2",
            Self::Int4 => "int4",
            Self::Int8 => "int8",
            Self::Float4 => "float4",
            Self::Float8 => "float8",
            Self::Text => "text",
            Self::Uuid => "uuid",
            Self::Instant => "timestamptz",
            Self::Date => "date",
            Self::Time => "time",
            Self::Json => "json",
            Self::Jsonb => "jsonb",
        }
    }

    /// The OID of that type.
    pub(crate) fn oid(self) -> Oid {
        match self {
            Self::Bool => Type::BOOL,
            Self::Int2 => Type::INT2,
            Self::Int4 => Type::INT4,
            Self::Int8 => Type::INT8,
            Self::Float4 => Type::FLOAT4,
            Self::Float8 => Type::FLOAT8,
            Self::Text => Type::TEXT,
            Self::Uuid => Type::UUID,
            Self::Instant => Type::TIMESTAMPTZ,
            Self::Date => Type::DATE,
            Self::Time => Type::TIME,
            Self::Json => Type::JSON,
            Self::Jsonb => Type::JSONB,
        }
        .oid()
    }
}

/// The expression that selects a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Select {
    /// The column itself.
    Plain,
    /// Cast to text.
    Text,
    /// Converted to JSON.
    Json,
}

impl Select {
    /// The SQL before and after the column.
    pub(in crate::sql) fn around(self) -> (&'static str, &'static str) {
        match self {
            Self::Plain => ("", ""),
            Self::Text => ("", "::text"),
            Self::Json => ("to_jsonb(", ")"),
        }
    }
}

/// The form of a catalog type (by its name in `pg_type`) that is read without a conversion.
fn native_form(type_name: &str) -> Option<ColumnForm> {
    Some(match type_name {
        "bool" => ColumnForm::Bool,
        "int2" => ColumnForm::Int2,
        "int4" => ColumnForm::Int4,
        "int8" => ColumnForm::Int8,
        "float4" => ColumnForm::Float4,
        "float8" => ColumnForm::Float8,
        // The binary format of all these types is the bytes of the text.
        "text" | "varchar" | "bpchar" | "name" | "citext" => ColumnForm::Text,
        "uuid" => ColumnForm::Uuid,
        // Both have the same binary format: microseconds since 2000-01-01, without a time zone.
        "timestamptz" | "timestamp" => ColumnForm::Instant,
        "date" => ColumnForm::Date,
        "time" => ColumnForm::Time,
        "json" => ColumnForm::Json,
        "jsonb" => ColumnForm::Jsonb,
        _ => return None,
    })
}

/// Returns the select expression and form of a column for a scalar or enum field, or `None` if the
/// column's type does not fit. `kind` is `None` for enums.
pub fn select_form(type_name: &str, kind: Option<ScalarKind>) -> Option<(Select, ColumnForm)> {
    use ColumnForm as F;
    use ScalarKind as K;

    let text = (Select::Text, F::Text);
    let json = (Select::Json, F::Jsonb);
    let Some(form) = native_form(type_name) else {
        return match kind {
            None | Some(K::String | K::Id) => Some(text),
            // The text of a `numeric` keeps all its digits; its binary format would have to be
            // converted.
            Some(K::Decimal | K::Float | K::BigInt) if type_name == "numeric" => Some(text),
            Some(K::Json | K::Custom(_)) => Some(json),
            _ => None,
        };
    };

    let plain = (Select::Plain, form);
    let fits = match kind {
        None => form == F::Text,
        Some(K::Int | K::BigInt) => matches!(form, F::Int2 | F::Int4 | F::Int8),
        Some(K::Float) => matches!(form, F::Float4 | F::Float8 | F::Int2 | F::Int4 | F::Int8),
        Some(K::Boolean) => form == F::Bool,
        Some(K::String) => matches!(form, F::Text | F::Uuid),
        Some(K::Id) => matches!(form, F::Text | F::Uuid | F::Int2 | F::Int4 | F::Int8),
        Some(K::Uuid) => matches!(form, F::Uuid | F::Text),
        Some(K::DateTime) => matches!(form, F::Instant | F::Text),
        Some(K::Date) => matches!(form, F::Date | F::Text),
        Some(K::Time) => matches!(form, F::Time | F::Text),
        // A double is no exact decimal, so no form of a float fits.
        Some(K::Decimal) => matches!(form, F::Int2 | F::Int4 | F::Int8 | F::Text),
        Some(K::Json | K::Custom(_)) => {
            return Some(if matches!(form, F::Json | F::Jsonb | F::Text) {
                plain
            } else {
                json
            });
        }
    };

    match (fits, kind) {
        (true, _) => Some(plain),
        // Every type can be cast to text, but a client would not expect the text of an object or a
        // Boolean.
        (false, Some(K::String)) if !matches!(form, F::Json | F::Jsonb) => Some(text),
        _ => None,
    }
}
