//! The fields of the rows, as the generator and the evaluator see them.

/// The kind of value that a field holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Text,
    /// A scalar of its own that is stored as text.
    Slug,
    Id,
    /// Text that a `uuid` column holds.
    UuidText,
    Mood,
    Uuid,
    Int,
    BigInt,
    /// A `BigInt` over a column of small integers.
    Total,
    /// A `Float` over a column of integers.
    Step,
    Float,
    Decimal,
    Bool,
    Date,
    Time,
    Instant,
    Json,
    Inet,
    Cidr,
    Mac,
    Path,
    Dates,
    Duration,
    Percentage,
    Port,
    Search,
    List(&'static Kind),
    Object(&'static [Field]),
    Objects(&'static [Field]),
}

/// A field: its name and what it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Field(pub(super) &'static str, pub(super) Kind);

/// The field with a name.
pub(super) fn field(fields: &'static [Field], name: &str) -> Field {
    *fields
        .iter()
        .find(|field| field.0 == name)
        .expect("a field of the type")
}

/// The fields of a row; `id` is its position.
pub(super) const ROW: &[Field] = &[
    Field("id", Kind::Int),
    Field("name", Kind::Text),
    Field("slug", Kind::Slug),
    Field("slugs", Kind::List(&Kind::Slug)),
    Field("code", Kind::Id),
    Field("serial", Kind::UuidText),
    Field("mood", Kind::Mood),
    Field("token", Kind::Uuid),
    Field("key", Kind::Uuid),
    Field("count", Kind::Int),
    Field("big", Kind::BigInt),
    Field("step", Kind::Step),
    Field("score", Kind::Float),
    Field("price", Kind::Decimal),
    Field("flag", Kind::Bool),
    Field("day", Kind::Date),
    Field("clock", Kind::Time),
    Field("at", Kind::Instant),
    Field("seen", Kind::Instant),
    Field("words", Kind::List(&Kind::Text)),
    Field("sizes", Kind::List(&Kind::Int)),
    Field("totals", Kind::List(&Kind::Total)),
    Field("hops", Kind::List(&Kind::Inet)),
    Field("moods", Kind::List(&Kind::Mood)),
    Field("meta", Kind::Json),
    Field("host", Kind::Inet),
    Field("net", Kind::Cidr),
    Field("mac", Kind::Mac),
    Field("path", Kind::Path),
    Field("stay", Kind::Dates),
    Field("wait", Kind::Duration),
    Field("share", Kind::Percentage),
    Field("port", Kind::Port),
    Field("search", Kind::Search),
    Field("maker", Kind::Object(MAKER)),
    Field("parts", Kind::Objects(PART)),
];

const MAKER: &[Field] = &[
    Field("id", Kind::Uuid),
    Field("name", Kind::Text),
    Field("rank", Kind::Int),
    Field(
        "seat",
        Kind::Object(&[Field("line", Kind::Int), Field("since", Kind::Date)]),
    ),
];

const PART: &[Field] = &[
    Field("name", Kind::Text),
    Field("slug", Kind::Slug),
    Field("size", Kind::Decimal),
    Field("at", Kind::Instant),
    Field("labels", Kind::List(&Kind::Text)),
    Field("host", Kind::Inet),
    Field("maker", Kind::Object(&[Field("name", Kind::Text)])),
    Field(
        "screws",
        Kind::Objects(&[Field("length", Kind::Float), Field("wait", Kind::Duration)]),
    ),
];
