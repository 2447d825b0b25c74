//! A query, and the facts about its rows that follow from its joins and conditions.

use std::cell::RefCell;
use std::collections::HashSet;

use super::catalog::Relation;
use super::joins::{Joins, Optional};
use super::proofs::{self, Column, Prover};
use super::tree::Node;
use super::{Facts, Nulls};

/// The kinds of relations in a query.
pub(super) const RELATION: i64 = 0;
pub(super) const SUBQUERY: i64 = 1;

/// A query in its context.
#[derive(Debug, Clone)]
pub(super) struct Scope<'a> {
    pub(super) facts: &'a Facts,
    pub(super) query: &'a Node,
    pub(super) relations: Vec<&'a Node>,
    pub(super) outer: Option<&'a Scope<'a>>,
    pub(super) joins: Joins<'a>,
    /// Columns that are not null if their relation is present.
    filled: HashSet<Column>,
    /// Columns proven not to be null by a condition around the current expression.
    pub(super) tested: RefCell<Vec<Column>>,
}

impl<'a> Scope<'a> {
    /// A query, which may read columns of the outer query.
    pub(super) fn new(facts: &'a Facts, query: &'a Node, outer: Option<&'a Scope<'a>>) -> Self {
        let mut scope = Self {
            facts,
            query,
            relations: query.nodes("rtable"),
            outer,
            joins: Joins::of(query),
            filled: HashSet::new(),
            tested: RefCell::default(),
        };

        scope.use_conditions();
        scope.use_keys();

        scope
    }

    pub(super) fn prover(&self) -> Prover<'_> {
        Prover {
            functions: &self.facts.catalog.functions,
            relations: &self.relations,
        }
    }

    /// A relation of the query.
    pub(super) fn relation(&self, number: usize) -> Option<&'a Node> {
        self.relations.get(number.checked_sub(1)?).copied()
    }

    /// The table or view behind a relation of the query.
    pub(super) fn table(&self, number: usize) -> Option<(u32, &'a Relation)> {
        let relation = self
            .relation(number)
            .filter(|relation| relation.number("rtekind") == RELATION)?;
        let oid = relation.oid("relid");
        Some((oid, self.facts.catalog.relations.get(&oid)?))
    }

    fn use_conditions(&mut self) {
        for condition in self.joins.conditions.clone() {
            for (relation, column) in self.prover().true_for(condition.expression) {
                if self.joins.find(relation, &condition.within) {
                    self.filled.insert((relation, column));
                }
            }
        }
    }

    /// Finds joins that always match. Each may make another one certain.
    fn use_keys(&mut self) {
        let optional = self.joins.optional.clone();
        while optional
            .iter()
            .any(|side| self.always_matches(side) && self.joins.keep(side.side))
        {}
    }

    fn always_matches(&self, optional: &Optional<'_>) -> bool {
        let Some(from) = optional.from.filter(|from| from.name == "RANGETBLREF") else {
            return false;
        };

        let number = from.position("rtindex");
        let Some(relation) = self.relation(number) else {
            return false;
        };

        if relation.number("rtekind") == SUBQUERY {
            let is_any = optional.on.is_none_or(is_true);
            return is_any && relation.node("subquery").is_some_and(has_one_row);
        }

        optional
            .on
            .is_some_and(|on| self.key_leads_to(number, on, 0, &optional.within))
    }

    /// Whether a condition matches a foreign key of a row that is present, and the key references
    /// the relation. The row may belong to the outer query.
    pub(super) fn key_leads_to(
        &self,
        to: usize,
        condition: &Node,
        level: i64,
        within: &[super::joins::Side],
    ) -> bool {
        let Some(pairs) = equal_columns(condition, to, level) else {
            return false;
        };

        let Some(((from, _), _, _)) = pairs.first().copied() else {
            return false;
        };

        let of = if level == 0 { Some(self) } else { self.outer };
        let (Some(of), Some((to_table, there)), Some(target)) =
            (of, self.table(to), self.relation(to))
        else {
            return false;
        };

        let Some((from_table, here)) = of.table(from) else {
            return false;
        };

        // A policy or TABLESAMPLE may hide the referenced row, and `FROM ONLY` a partitioned table
        // has no rows.
        let is_whole = there.is_table() && !there.has_policies && !target.has("tablesample");
        let has_all = there.kind == 'r' || target.flag("inh");

        // The foreign key does not apply to the table's children.
        let is_bound = here.is_table() && (here.kind == 'p' || !here.has_children);
        let is_there = !of.joins.may_miss(from, within);
        let is_filled = |column: usize| {
            of.filled.contains(&(from, column))
                || here
                    .columns
                    .get(&column)
                    .is_some_and(|column| column.is_filled)
        };

        // With a subset of the key's columns, or other operators, the constraint does not guarantee
        // a match.
        let columns: HashSet<Column> = pairs
            .iter()
            .map(|((_, here), there, _)| (*here, *there))
            .collect();
        let is_key = |key: &&super::catalog::ForeignKey| {
            (key.from, key.to) == (from_table, to_table)
                && key.columns == columns
                && pairs
                    .iter()
                    .all(|(.., operator)| key.operators.contains(operator))
        };

        is_whole
            && has_all
            && is_bound
            && is_there
            && pairs
                .iter()
                .all(|((relation, column), ..)| *relation == from && is_filled(*column))
            && self.facts.catalog.keys.iter().any(|key| is_key(&key))
    }

    /// A column of the query's result, by its number.
    pub(super) fn output(&self, column: usize) -> Nulls {
        if let Some(operation) = self.query.node("setOperations") {
            return self.combined(operation, column);
        }

        match self.target(column) {
            // Grouping sets return null for columns that they do not group by.
            Some(entry) if self.has_grouping_sets() && entry.number("ressortgroupref") != 0 => {
                Nulls::Unknown
            }
            Some(entry) => entry
                .node("expr")
                .map_or(Nulls::Unknown, |expression| self.nulls(expression)),
            None => Nulls::Unknown,
        }
    }

    /// The entry of the select list.
    pub(super) fn target(&self, column: usize) -> Option<&'a Node> {
        let entries = self.query.nodes("targetList").into_iter();
        entries
            .filter(|entry| !entry.flag("resjunk"))
            .find(|entry| entry.position("resno") == column)
    }

    pub(super) fn has_grouping_sets(&self) -> bool {
        !self.query.nodes("groupingSets").is_empty()
    }

    /// `UNION`, `INTERSECT` and `EXCEPT`.
    fn combined(&self, operation: &Node, column: usize) -> Nulls {
        if operation.name == "RANGETBLREF" {
            return self.column_of(operation.position("rtindex"), column);
        }

        let side = |name| {
            operation
                .node(name)
                .map_or(Nulls::Unknown, |side| self.combined(side, column))
        };

        match operation.number("op") {
            1 => Nulls::any([side("larg"), side("rarg")]),
            // A row of the result is a row of both sides.
            2 => match side("larg") {
                Nulls::Never => Nulls::Never,
                _ => side("rarg").perhaps(),
            },
            3 => side("larg"),
            _ => Nulls::Unknown,
        }
    }

    /// A column as seen by an expression, after the joins.
    pub(super) fn seen(&self, relation: usize, column: usize) -> Nulls {
        if column > 0 && self.tested.borrow().contains(&(relation, column)) {
            return Nulls::Never;
        }

        if let Some(alias) = proofs::joined(&self.relations, relation, column) {
            return self.merged(relation, alias);
        }

        if self.joins.may_miss(relation, &[]) {
            return self.missing(relation);
        }

        if column > 0 && self.filled.contains(&(relation, column)) {
            return Nulls::Never;
        }

        let nulls = self.column_of(relation, column);

        if self.joins.is_tested(relation, Some(column)) {
            nulls.perhaps()
        } else {
            nulls
        }
    }

    /// A column of a relation that may be missing.
    fn missing(&self, relation: usize) -> Nulls {
        if self.joins.is_tested(relation, None) {
            return Nulls::Unknown;
        }
        let name = self
            .relation(relation)
            .and_then(|relation| relation.node("eref"));
        let name = name.map(|name| name.text("aliasname")).unwrap_or_default();
        Nulls::Possible(format!("`{name}` is on the optional side of an outer join"))
    }

    /// A column of a join. If a full join merges two columns, at least one side is present.
    fn merged(&self, join: usize, alias: &Node) -> Nulls {
        if !matches!(alias.name.as_str(), "COALESCE" | "COALESCEEXPR")
            || self.joins.may_miss(join, &[])
        {
            return self.nulls(alias);
        }
        let mut both = self.clone();
        both.joins.complete(join);
        Nulls::any(alias.nodes("args").into_iter().map(|arg| both.nulls(arg))).perhaps()
    }
}

/// Whether a query returns exactly one row, regardless of the tables' content.
pub(super) fn has_one_row(query: &Node) -> bool {
    let plain = [
        "setOperations",
        "limitCount",
        "limitOffset",
        "havingQual",
        "groupClause",
        "groupingSets",
    ];

    if plain.iter().any(|part| query.has(part)) || query.flag("hasTargetSRFs") {
        return false;
    }

    let reads_nothing = query
        .node("jointree")
        .is_some_and(|tree| tree.nodes("fromlist").is_empty() && !tree.has("quals"));

    // Aggregates without GROUP BY return one row, also for no input.
    query.flag("hasAggs") || reads_nothing
}

fn is_true(condition: &Node) -> bool {
    condition.name == "CONST"
        && condition.oid("consttype") == 16
        && condition.bytes("constvalue").first() == Some(&1)
}

/// The columns of another relation that a condition compares with columns of this one, as
/// `((relation, column), column, operator)`; none if the condition contains anything else.
fn equal_columns(condition: &Node, to: usize, level: i64) -> Option<Vec<(Column, usize, u32)>> {
    if condition.name == "BOOLEXPR" && condition.text("boolop") == "and" {
        let parts = condition
            .nodes("args")
            .into_iter()
            .map(|arg| equal_columns(arg, to, level));
        return parts
            .collect::<Option<Vec<_>>>()
            .map(|parts| parts.concat());
    }

    let args = condition.nodes("args");
    let [left, right] = args.as_slice() else {
        return None;
    };

    let (left, right) = (variable(left)?, variable(right)?);
    let is_there = |(at, relation, _): (i64, usize, usize)| at == 0 && relation == to;
    let (there, here) = if is_there(left) {
        (left, right)
    } else {
        (right, left)
    };

    let is_pair =
        condition.name == "OPEXPR" && is_there(there) && here.0 == level && !is_there(here);

    is_pair.then(|| vec![((here.1, here.2), there.2, condition.oid("opno"))])
}

fn variable(expression: &Node) -> Option<(i64, usize, usize)> {
    match expression.name.as_str() {
        "RELABELTYPE" => variable(expression.node("arg")?),
        "VAR" => Some((
            expression.number("varlevelsup"),
            expression.position("varno"),
            expression.position("varattno"),
        )),
        _ => None,
    }
}
