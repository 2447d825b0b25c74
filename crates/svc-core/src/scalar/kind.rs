//! The kinds of scalars.

use async_graphql::Value;

/// A scalar of the schema.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScalarMeta {
    /// The GraphQL name.
    pub name: &'static str,
    /// Shown by introspection.
    pub description: Option<&'static str>,
    /// The `@specifiedBy` URL.
    pub specified_by: Option<&'static str>,
    /// The rules by which values are checked and written.
    pub kind: ScalarKind,
}

/// The scalars that the engine writes itself, and the door for all others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScalarKind {
    /// `Int`: 32 bits, as the GraphQL specification says.
    Int,
    /// `Float`: a finite double.
    Float,
    /// `String`.
    String,
    /// `Boolean`.
    Boolean,
    /// `ID`: a string, read from strings and integers.
    Id,
    /// `BigInt`: 64 bits; a JSON number up to 2^53, a string beyond.
    BigInt,
    /// `UUID` (RFC 9562), in lower case with hyphens.
    Uuid,
    /// `DateTime` (RFC 3339), in UTC with a `Z`.
    DateTime,
    /// `Date` (RFC 3339 `full-date`).
    Date,
    /// `Time`: hours, minutes, seconds and fractions without an offset.
    Time,
    /// `Decimal`: an exact decimal number as a string.
    Decimal,
    /// `JSON`: any JSON value.
    Json,
    /// A scalar with code of its own.
    Custom(CustomScalar),
}

impl ScalarKind {
    /// The GraphQL name, for messages.
    #[doc(hidden)]
    pub fn shown(self) -> &'static str {
        match self {
            Self::Int => "Int",
            Self::Float => "Float",
            Self::String => "String",
            Self::Boolean => "Boolean",
            Self::Id => "ID",
            Self::BigInt => "BigInt",
            Self::Uuid => "UUID",
            Self::DateTime => "DateTime",
            Self::Date => "Date",
            Self::Time => "Time",
            Self::Decimal => "Decimal",
            Self::Json => "JSON",
            Self::Custom(_) => "value of its scalar",
        }
    }
}

/// The code of a user-defined scalar.
#[derive(Debug, Clone, Copy)]
pub struct CustomScalar {
    /// Parses a value and gives its JSON form back.
    ///
    /// # Errors
    /// The sentence that names the rule the value breaks.
    pub recode: fn(Value) -> Result<Value, String>,
    /// The PostgreSQL type as which filters and orders compare it; it stands in SQL as it is.
    pub sql_type: &'static str,
}

impl PartialEq for CustomScalar {
    fn eq(&self, other: &Self) -> bool {
        // Functions with the same code may have the same address, so the type is compared too.
        std::ptr::fn_addr_eq(self.recode, other.recode) && self.sql_type == other.sql_type
    }
}
