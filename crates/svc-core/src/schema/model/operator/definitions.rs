//! The definitions of the operators, in groups that the families of values share.

use super::{Operand, Operator, OperatorDef};

const fn def(
    name: &'static str,
    operator: Operator,
    operand: Operand,
    description: &'static str,
) -> OperatorDef {
    OperatorDef {
        name,
        operator,
        operand,
        description,
    }
}

pub(super) static EQUALITY: [OperatorDef; 2] = [
    def(
        "eq",
        Operator::Eq,
        Operand::Same,
        "Equal; null means that the value is null.",
    ),
    def(
        "neq",
        Operator::Ne,
        Operand::Same,
        "Not equal; rows without a value are kept.",
    ),
];

pub(super) static MEMBERSHIP: [OperatorDef; 2] = [
    def(
        "in",
        Operator::In,
        Operand::List,
        "One of these; an empty list gives no rows.",
    ),
    def(
        "nin",
        Operator::NotIn,
        Operand::List,
        "None of these; rows without a value are kept.",
    ),
];

pub(super) static NULL: [OperatorDef; 1] = [def(
    "isnull",
    Operator::IsNull,
    Operand::Boolean,
    "Whether the value is null.",
)];

pub(super) static ORDER: [OperatorDef; 4] = [
    def("gt", Operator::Gt, Operand::Same, "Greater."),
    def("gte", Operator::Gte, Operand::Same, "Greater or equal."),
    def("lt", Operator::Lt, Operand::Same, "Less."),
    def("lte", Operator::Lte, Operand::Same, "Less or equal."),
];

pub(super) static TEXT: [OperatorDef; 10] = [
    def(
        "contains",
        Operator::Contains,
        Operand::String,
        "Contains this text.",
    ),
    def(
        "icontains",
        Operator::IContains,
        Operand::String,
        "Contains this text, in any case.",
    ),
    def(
        "startswith",
        Operator::StartsWith,
        Operand::String,
        "Begins with this text.",
    ),
    def(
        "istartswith",
        Operator::IStartsWith,
        Operand::String,
        "Begins with this text, in any case.",
    ),
    def(
        "endswith",
        Operator::EndsWith,
        Operand::String,
        "Ends with this text.",
    ),
    def(
        "iendswith",
        Operator::IEndsWith,
        Operand::String,
        "Ends with this text, in any case.",
    ),
    def(
        "like",
        Operator::Like,
        Operand::String,
        "Matches a pattern with `%` and `_`.",
    ),
    def(
        "ilike",
        Operator::ILike,
        Operand::String,
        "Matches a pattern with `%` and `_`, in any case.",
    ),
    def(
        "matches",
        Operator::Matches,
        Operand::String,
        "Matches a POSIX regular expression.",
    ),
    def(
        "imatches",
        Operator::IMatches,
        Operand::String,
        "Matches a POSIX regular expression, in any case.",
    ),
];

pub(super) static LIST: [OperatorDef; 9] = [
    def(
        "contains",
        Operator::ListContains,
        Operand::List,
        "Holds all of these.",
    ),
    def(
        "contained_by",
        Operator::ListContainedBy,
        Operand::List,
        "Holds nothing but these.",
    ),
    def(
        "overlaps",
        Operator::Overlaps,
        Operand::List,
        "Holds at least one of these.",
    ),
    def(
        "is_empty",
        Operator::IsEmpty,
        Operand::Boolean,
        "Whether it holds nothing.",
    ),
    def(
        "len_eq",
        Operator::LenEq,
        Operand::Int,
        "Holds exactly this many.",
    ),
    def(
        "len_gt",
        Operator::LenGt,
        Operand::Int,
        "Holds more than this many.",
    ),
    def(
        "len_gte",
        Operator::LenGte,
        Operand::Int,
        "Holds at least this many.",
    ),
    def(
        "len_lt",
        Operator::LenLt,
        Operand::Int,
        "Holds fewer than this many.",
    ),
    def(
        "len_lte",
        Operator::LenLte,
        Operand::Int,
        "Holds at most this many.",
    ),
];

pub(super) static JSON: [OperatorDef; 6] = [
    def(
        "has_key",
        Operator::HasKey,
        Operand::String,
        "An object with this key, or a list with this string.",
    ),
    def(
        "has_any_keys",
        Operator::HasAnyKeys,
        Operand::Strings,
        "Has any of these keys.",
    ),
    def(
        "has_all_keys",
        Operator::HasAllKeys,
        Operand::Strings,
        "Has all of these keys.",
    ),
    def(
        "contains",
        Operator::JsonContains,
        Operand::Json,
        "Contains this JSON.",
    ),
    def(
        "contained_by",
        Operator::JsonContainedBy,
        Operand::Json,
        "Is contained in this JSON.",
    ),
    def(
        "path_exists",
        Operator::PathExists,
        Operand::String,
        "The SQL/JSON path finds something.",
    ),
];

pub(super) static NETWORK: [OperatorDef; 6] = [
    def(
        "in_subnet",
        Operator::InSubnet,
        Operand::Same,
        "Lies in this network, or is it.",
    ),
    def(
        "in_range",
        Operator::InRange,
        Operand::Range,
        "All its addresses lie between these two, both included.",
    ),
    def(
        "is_private",
        Operator::IsPrivate,
        Operand::Boolean,
        "Whether it is private (RFC 1918, RFC 4193).",
    ),
    def(
        "is_ipv4",
        Operator::IsIpv4,
        Operand::Boolean,
        "Whether it is IPv4.",
    ),
    def(
        "is_ipv6",
        Operator::IsIpv6,
        Operand::Boolean,
        "Whether it is IPv6.",
    ),
    def(
        "is_loopback",
        Operator::IsLoopback,
        Operand::Boolean,
        "Whether it is the host's own (127.0.0.0/8, ::1).",
    ),
];

pub(super) static PATH: [OperatorDef; 6] = [
    def(
        "ancestor_of",
        Operator::AncestorOf,
        Operand::Same,
        "Leads to this path, or is it.",
    ),
    def(
        "descendant_of",
        Operator::DescendantOf,
        Operand::Same,
        "Lies below this path, or is it.",
    ),
    def(
        "matches_lquery",
        Operator::MatchesLquery,
        Operand::String,
        "Matches a pattern of paths (lquery).",
    ),
    def(
        "nlevel_eq",
        Operator::LevelEq,
        Operand::Int,
        "Has exactly this many labels.",
    ),
    def(
        "nlevel_gte",
        Operator::LevelGte,
        Operand::Int,
        "Has at least this many labels.",
    ),
    def(
        "nlevel_lte",
        Operator::LevelLte,
        Operand::Int,
        "Has at most this many labels.",
    ),
];

pub(super) static DATE_RANGE: [OperatorDef; 5] = [
    def(
        "contains_date",
        Operator::ContainsDate,
        Operand::Date,
        "Holds this date.",
    ),
    def(
        "overlaps",
        Operator::RangeOverlaps,
        Operand::Same,
        "Has a date in common with this range.",
    ),
    def(
        "adjacent",
        Operator::Adjacent,
        Operand::Same,
        "Touches this range, with no date between or in common.",
    ),
    def(
        "strictly_left",
        Operator::StrictlyLeft,
        Operand::Same,
        "Ends before this range begins.",
    ),
    def(
        "strictly_right",
        Operator::StrictlyRight,
        Operand::Same,
        "Begins after this range ends.",
    ),
];

/// Text search queries in PostgreSQL's four syntaxes, used by filters and by orders by rank.
pub static SEARCH: [OperatorDef; 4] = [
    def(
        "matches",
        Operator::Search,
        Operand::String,
        "Matches a query with `&`, `|`, `!` and `<->` (to_tsquery).",
    ),
    def(
        "plain_query",
        Operator::PlainSearch,
        Operand::String,
        "Has all these words (plainto_tsquery).",
    ),
    def(
        "phrase_query",
        Operator::PhraseSearch,
        Operand::String,
        "Has these words in a row (phraseto_tsquery).",
    ),
    def(
        "websearch_query",
        Operator::WebSearch,
        Operand::String,
        WEB_SEARCH,
    ),
];

const WEB_SEARCH: &str = "Matches a query as search engines take it: words, phrases in quotes, `or`, `-` (websearch_to_tsquery).";
