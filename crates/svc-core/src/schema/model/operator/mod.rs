//! The operators of filters, shared by the schema and SQL.

mod definitions;

pub use definitions::SEARCH;

use self::definitions::{
    DATE_RANGE, EQUALITY, JSON, LIST, MEMBERSHIP, NETWORK, NULL, ORDER, PATH, TEXT,
};
use crate::schema::{ScalarKind, TypeKind};

/// A comparison with a stored value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the definitions describe each")]
pub enum Operator {
    Eq,
    Ne,
    In,
    NotIn,
    IsNull,
    Gt,
    Gte,
    Lt,
    Lte,
    Contains,
    IContains,
    StartsWith,
    IStartsWith,
    EndsWith,
    IEndsWith,
    Like,
    ILike,
    Matches,
    IMatches,
    ListContains,
    ListContainedBy,
    Overlaps,
    IsEmpty,
    LenEq,
    LenGt,
    LenGte,
    LenLt,
    LenLte,
    HasKey,
    HasAnyKeys,
    HasAllKeys,
    JsonContains,
    JsonContainedBy,
    PathExists,
    InSubnet,
    InRange,
    IsPrivate,
    IsIpv4,
    IsIpv6,
    IsLoopback,
    AncestorOf,
    DescendantOf,
    MatchesLquery,
    LevelEq,
    LevelGte,
    LevelLte,
    ContainsDate,
    RangeOverlaps,
    Adjacent,
    StrictlyLeft,
    StrictlyRight,
    Search,
    PlainSearch,
    PhraseSearch,
    WebSearch,
}

impl Operator {
    /// Whether the value is a regular expression or can contain one, such as `like_regex` in a
    /// path.
    pub(crate) fn takes_expression(self) -> bool {
        matches!(self, Self::Matches | Self::IMatches | Self::PathExists)
    }

    /// The number of comparisons that it counts as, based on PostgreSQL's execution time: over
    /// 6,000 texts of 360 bytes an equality takes 1 ms, `contains` 5 ms, `icontains` 25 ms,
    /// `imatches` 50 to 100 ms.
    #[doc(hidden)]
    pub fn weight(self) -> u64 {
        match self {
            Self::IContains | Self::IStartsWith | Self::IEndsWith | Self::ILike => 4,
            Self::Matches | Self::IMatches | Self::PathExists => 10,
            _ => 1,
        }
    }
}

/// The kind of value on the right-hand side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// A value of the field's own type.
    Same,
    /// A list of such values.
    List,
    Boolean,
    Int,
    String,
    Strings,
    Json,
    /// Two values of the field's own type, `from` and `to`.
    Range,
    Date,
}

/// An operator as exposed to clients.
#[derive(Debug, Clone, Copy)]
pub struct OperatorDef {
    /// In snake_case; the naming setting applies.
    pub name: &'static str,
    pub operator: Operator,
    pub operand: Operand,
    pub(crate) description: &'static str,
}

/// A family of stored values with the same operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Strings, ids, and scalars that are stored as text.
    Text,
    /// Numbers, dates and times.
    Ordered,
    Boolean,
    /// Values without an order: UUIDs, enums, scalars of PostgreSQL types that have none.
    Plain,
    /// Lists of scalars.
    List,
    Json,
    /// Addresses and networks.
    Network,
    /// Paths in a tree.
    Path,
    DateRange,
    /// Documents for full text search.
    Search,
}

impl Family {
    /// The operators of the family, in the order of the schema.
    pub fn operators(self) -> Vec<&'static OperatorDef> {
        let groups: &[&[OperatorDef]] = match self {
            Self::Text => &[&EQUALITY, &MEMBERSHIP, &NULL, &TEXT],
            Self::Ordered => &[&EQUALITY, &ORDER, &MEMBERSHIP, &NULL],
            Self::Boolean => &[&EQUALITY, &NULL],
            Self::Plain => &[&EQUALITY, &MEMBERSHIP, &NULL],
            Self::List => &[&LIST, &NULL],
            Self::Json => &[&EQUALITY, &NULL, &JSON],
            Self::Network => &[&EQUALITY, &MEMBERSHIP, &NULL, &NETWORK],
            Self::Path => &[&EQUALITY, &MEMBERSHIP, &NULL, &PATH],
            Self::DateRange => &[&EQUALITY, &NULL, &DATE_RANGE],
            Self::Search => &[&NULL, &SEARCH],
        };

        groups.iter().flat_map(|group| group.iter()).collect()
    }

    /// The family of a scalar that compares as a PostgreSQL type.
    pub(crate) fn of_sql_type(name: &str) -> Self {
        match name {
            "inet" | "cidr" => Self::Network,
            "ltree" => Self::Path,
            "daterange" => Self::DateRange,
            "tsvector" => Self::Search,
            "json" | "jsonb" => Self::Json,
            "bool" | "boolean" => Self::Boolean,
            "smallint" | "int2" | "integer" | "int" | "int4" | "bigint" | "int8" | "numeric"
            | "decimal" | "real" | "float4" | "double precision" | "float8" | "money" | "date"
            | "time" | "timestamp" | "timestamptz" | "interval" => Self::Ordered,
            "text" | "varchar" | "character varying" | "citext" => Self::Text,
            _ => Self::Plain,
        }
    }

    /// The operator with a name from the definitions.
    pub fn operator(self, name: &str) -> Option<&'static OperatorDef> {
        self.operators().into_iter().find(|def| def.name == name)
    }
}

/// The operators of a scalar or an enum.
pub fn family(kind: &TypeKind) -> Family {
    use ScalarKind as K;

    let TypeKind::Scalar { kind, .. } = kind else {
        return Family::Plain;
    };

    match kind {
        K::String | K::Id => Family::Text,
        K::Int | K::Float | K::BigInt | K::Decimal | K::Date | K::Time | K::DateTime => {
            Family::Ordered
        }
        K::Boolean => Family::Boolean,
        K::Uuid => Family::Plain,
        K::Custom(custom) => Family::of_sql_type(custom.sql_type),
        K::Json => Family::Json,
    }
}
