//! Scans and sorts in a plan, as shown by `EXPLAIN (VERBOSE, FORMAT JSON)`.

use serde_json::Value;

use super::expression::{Condition, SortKey, conditions, sort_key};

/// A scan of a table.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) schema: String,
    pub(super) table: String,
    pub(super) alias: String,
    /// Whether an index finds its rows.
    pub(super) uses_index: bool,
    /// The conditions of the request that filter its rows.
    pub(super) filter: Vec<Condition>,
    /// All conditions of the request on it.
    pub(super) conditions: Vec<Condition>,
    /// The text of all conditions on its rows, without the alias.
    pub(super) asked: String,
}

/// A sort of the rows of one table.
#[derive(Debug)]
pub(super) struct Sort {
    pub(super) alias: String,
    pub(super) keys: Vec<SortKey>,
    /// The number of rows that PostgreSQL expects.
    pub(super) rows: f64,
}

/// The scans and sorts of a plan.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) scans: Vec<Scan>,
    pub(super) sorts: Vec<Sort>,
}

/// Nodes that need sorted input for themselves.
const SORTED_INPUT: [&str; 5] = ["Merge Join", "Aggregate", "Group", "Unique", "WindowAgg"];

impl Plan {
    pub(super) fn of(explained: &Value) -> Self {
        let mut plan = Self::default();
        plan.add(&explained[0]["Plan"], "", false);
        plan
    }

    /// Adds a node and its children. If `is_found`, each row of another node looks up its single
    /// row in this one.
    fn add(&mut self, node: &Value, above: &str, is_found: bool) {
        let kind = text(node, "Node Type");
        self.scans.extend(scan(node, kind, is_found));
        if kind == "Sort" && !SORTED_INPUT.contains(&above) {
            self.sorts.extend(sort(node));
        }

        for inner in children(node) {
            let is_found = match kind {
                "Nested Loop" => {
                    node["Inner Unique"] == true && text(inner, "Parent Relationship") == "Inner"
                }
                "Memoize" => is_found,
                _ => false,
            };
            self.add(inner, kind, is_found);
        }
    }
}

/// Returns a scan, unless it is of one of PostgreSQL's own tables. If each row of another node
/// looks up its single matching row here, no index finds rows by the conditions of the request.
fn scan(node: &Value, kind: &str, is_found: bool) -> Option<Scan> {
    let schema = node.get("Schema")?.as_str()?;
    if !kind.ends_with("Scan") || kind == "Foreign Scan" || schema == "pg_catalog" {
        return None;
    }

    let alias = text(node, "Alias");
    let mut all = conditions(text(node, "Index Cond"), alias);
    all.extend(conditions(text(node, "Recheck Cond"), alias));
    let is_found = is_found && all.iter().all(|condition| condition.is_joined);
    if is_found {
        all.clear();
    }

    let filter = conditions(text(node, "Filter"), alias);
    all.extend(filter.iter().cloned());
    let asked = ["Index Cond", "Recheck Cond", "Filter"]
        .map(|key| text(node, key))
        .join(" ");

    Some(Scan {
        schema: schema.to_owned(),
        table: text(node, "Relation Name").to_owned(),
        alias: alias.to_owned(),
        uses_index: uses_index(node) && !is_found,
        filter,
        conditions: all,
        asked: asked.replace(&format!("{alias}."), ""),
    })
}

/// Whether an index finds its rows, directly or through bitmaps.
fn uses_index(node: &Value) -> bool {
    let is_bitmap = |inner: &&Value| text(inner, "Node Type").starts_with("Bitmap");
    node.get("Index Cond").is_some() || children(node).filter(is_bitmap).any(uses_index)
}

fn sort(node: &Value) -> Option<Sort> {
    let keys = node["Sort Key"].as_array()?.iter();
    let keys = keys
        .map(|key| sort_key(key.as_str()?))
        .collect::<Option<Vec<_>>>()?;
    let alias = keys.first()?.1.clone();
    if keys.iter().any(|(_, other)| *other != alias) {
        return None;
    }

    let rows = node["Plan Rows"].as_f64().unwrap_or_default();

    Some(Sort {
        alias,
        keys: keys.into_iter().map(|(key, _)| key).collect(),
        rows,
    })
}

fn children(node: &Value) -> impl Iterator<Item = &Value> {
    node["Plans"].as_array().into_iter().flatten()
}

fn text<'a>(node: &'a Value, key: &str) -> &'a str {
    node[key].as_str().unwrap_or_default()
}
