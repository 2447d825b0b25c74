//! Aggregates and window functions: most are null without input rows.

use super::Nulls;
use super::scope::Scope;
use super::tree::Node;

/// Aggregates that are not null for any group with a row, regardless of its values.
const FILLED: [&str; 5] = [
    "array_agg",
    "json_agg",
    "json_object_agg",
    "jsonb_agg",
    "jsonb_object_agg",
];

/// Aggregates that are null if all values of a group are null.
const OF_VALUES: [&str; 15] = [
    "any_value",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "every",
    "max",
    "min",
    "stddev_pop",
    "string_agg",
    "sum",
    "var_pop",
    "first_value",
];

const RANKS: [&str; 5] = [
    "cume_dist",
    "dense_rank",
    "percent_rank",
    "rank",
    "row_number",
];

/// Options of a frame: it starts at the first or the current row, ends at the last or the current
/// row, and excludes no rows, so that it contains at least the current row.
const BEGINS: i64 = 0x20 | 0x200;
const ENDS: i64 = 0x100 | 0x400;
const LEAVES_OUT: i64 = 0x8000 | 0x10000 | 0x20000;

impl Scope<'_> {
    pub(super) fn aggregate(&self, aggregate: &Node) -> Nulls {
        let name = self
            .function(aggregate.oid("aggfnoid"))
            .map_or("", |function| function.built_in());
        if name == "count" {
            return Nulls::Never;
        }

        // An aggregate with a FILTER may have no input rows in any group, and one of an outer level
        // belongs to the groups of another query.
        let known = FILLED.contains(&name) || OF_VALUES.contains(&name);
        let is_plain = !aggregate.has("aggfilter") && aggregate.number("agglevelsup") == 0;
        if !known || !is_plain || self.has_grouping_sets() {
            return Nulls::Unknown;
        }

        if self.query.nodes("groupClause").is_empty() && !reads_values(self.query) {
            // HAVING may reject the only group, and with it the null.
            let is_open = !self.query.has("havingQual");
            let why = format!("`{name}` over no rows is null");
            return if is_open {
                Nulls::Possible(why)
            } else {
                Nulls::Unknown
            };
        }

        if FILLED.contains(&name) {
            return Nulls::Never;
        }

        let first = aggregate.nodes("args").into_iter().next();

        first.map_or(Nulls::Unknown, |arg| self.child(arg, "expr"))
    }

    pub(super) fn window(&self, call: &Node) -> Nulls {
        let name = self
            .function(call.oid("winfnoid"))
            .map_or("", |function| function.built_in());
        let args = call.nodes("args");
        let values = || args.iter().map(|arg| self.nulls(arg));
        match name {
            "count" => Nulls::Never,
            _ if RANKS.contains(&name) => Nulls::Never,
            // With a default for rows beyond the end.
            "lag" | "lead" if args.len() == 3 => Nulls::any(values()).perhaps(),
            "lag" | "lead" => Nulls::Possible(format!("`{name}` is null at the end of the rows")),
            _ if call.has("aggfilter") || !self.has_current_row(call.number("winref")) => {
                Nulls::Unknown
            }
            _ if FILLED.contains(&name) => Nulls::Never,
            _ if OF_VALUES.contains(&name) || name == "last_value" => args
                .first()
                .map_or(Nulls::Unknown, |arg| self.nulls(arg))
                .perhaps(),
            _ => Nulls::Unknown,
        }
    }

    /// Whether a window's frame contains at least the current row.
    fn has_current_row(&self, window: i64) -> bool {
        let windows = self.query.nodes("windowClause");
        let options = windows
            .into_iter()
            .find(|clause| clause.number("winref") == window);

        options
            .map(|clause| clause.number("frameOptions"))
            .is_some_and(|options| {
                options & BEGINS != 0 && options & ENDS != 0 && options & LEAVES_OUT == 0
            })
    }
}

/// Whether a query reads a list of values, which has at least one row.
fn reads_values(query: &Node) -> bool {
    let parts = ["limitCount", "limitOffset", "havingQual"];
    let tree = query
        .node("jointree")
        .filter(|tree| !tree.has("quals") && !parts.iter().any(|part| query.has(part)));
    let from = tree.map(|tree| tree.nodes("fromlist")).unwrap_or_default();
    let [from] = from.as_slice() else {
        return false;
    };

    let relations = query.nodes("rtable");
    let relation = from
        .position("rtindex")
        .checked_sub(1)
        .and_then(|index| relations.get(index));
    let is_list = |relation: &&Node| {
        relation.has("values_lists") || relation.node("subquery").is_some_and(reads_values)
    };

    from.name == "RANGETBLREF" && relation.is_some_and(is_list)
}
