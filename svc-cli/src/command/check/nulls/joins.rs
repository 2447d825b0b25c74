//! Joins: which relations may be missing from a joined row, and are then null in all columns.

use std::collections::{HashMap, HashSet};

use super::tree::Node;

const LEFT: i64 = 1;
const FULL: i64 = 2;
const RIGHT: i64 = 3;

/// The side of an outer join whose rows may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Side {
    pub(super) join: usize,
    is_right: bool,
}

/// A condition that holds for each row with all these sides present.
#[derive(Debug, Clone)]
pub(super) struct Condition<'a> {
    pub(super) expression: &'a Node,
    pub(super) within: Vec<Side>,
}

/// A side that is missing if it has no matching row.
#[derive(Debug, Clone)]
pub(super) struct Optional<'a> {
    pub(super) side: Side,
    pub(super) from: Option<&'a Node>,
    pub(super) on: Option<&'a Node>,
    /// The sides that contain the join.
    pub(super) within: Vec<Side>,
}

/// The joins of a query.
#[derive(Debug, Clone, Default)]
pub(super) struct Joins<'a> {
    /// The sides that contain each relation, by its position in the query.
    around: HashMap<usize, Vec<Side>>,
    /// Sides proven never to be missing.
    present: HashSet<Side>,
    pub(super) conditions: Vec<Condition<'a>>,
    pub(super) optional: Vec<Optional<'a>>,
}

impl<'a> Joins<'a> {
    /// Reads the joins of a query.
    pub(super) fn of(query: &'a Node) -> Self {
        let mut joins = Self::default();
        if let Some(tree) = query.node("jointree") {
            joins.walk(tree, &[]);
        }
        joins
    }

    fn walk(&mut self, node: &'a Node, within: &[Side]) {
        match node.name.as_str() {
            "RANGETBLREF" => drop(
                self.around
                    .insert(node.position("rtindex"), within.to_vec()),
            ),
            "FROMEXPR" => {
                node.nodes("fromlist")
                    .into_iter()
                    .for_each(|from| self.walk(from, within));
                self.hold(node, within.to_vec());
            }
            "JOINEXPR" => self.join(node, within),
            _ => {}
        }
    }

    fn join(&mut self, node: &'a Node, within: &[Side]) {
        let (join, kind) = (node.position("rtindex"), node.number("jointype"));
        let inside = |is_right| [within, &[Side { join, is_right }]].concat();
        let (left, right) = (matches!(kind, RIGHT | FULL), matches!(kind, LEFT | FULL));

        // Columns merged by USING belong to the join itself, which is missing if a join around it
        // has no match.
        self.around.insert(join, within.to_vec());

        for (from, is_right, is_optional) in [("larg", false, left), ("rarg", true, right)] {
            let around = if is_optional {
                inside(is_right)
            } else {
                within.to_vec()
            };

            node.nodes(from)
                .into_iter()
                .for_each(|from| self.walk(from, &around));

            if is_optional && kind != FULL {
                let side = Side { join, is_right };
                let (from, on) = (node.node(from), node.node("quals"));
                self.optional.push(Optional {
                    side,
                    from,
                    on,
                    within: within.to_vec(),
                });
            }
        }

        match kind {
            // A row of a full join need not satisfy its condition, on either side.
            FULL => {}
            LEFT => self.hold(node, inside(true)),
            RIGHT => self.hold(node, inside(false)),
            _ => self.hold(node, within.to_vec()),
        }
    }

    fn hold(&mut self, node: &'a Node, within: Vec<Side>) {
        if let Some(expression) = node.node("quals") {
            self.conditions.push(Condition { expression, within });
        }
    }

    /// Whether a relation may be missing from a row that has all the sides in `around`.
    pub(super) fn may_miss(&self, relation: usize, around: &[Side]) -> bool {
        let sides = self.around.get(&relation).into_iter().flatten();
        sides
            .filter(|side| !around.contains(side))
            .any(|side| !self.present.contains(side))
    }

    /// Whether a condition refers to a relation, or to one of its columns, and so may exclude nulls
    /// in a way that the proofs do not recognize.
    pub(super) fn is_tested(&self, relation: usize, column: Option<usize>) -> bool {
        let around = self
            .around
            .get(&relation)
            .map(Vec::as_slice)
            .unwrap_or_default();

        // A test of a column only concerns rows with its relation. For the relation itself, only
        // conditions on all rows count.
        let is_there = |side: &Side| {
            self.present.contains(side) || (column.is_some() && around.contains(side))
        };

        let is_meant = |node: &Node| {
            node.name == "VAR"
                && node.position("varno") == relation
                && column.is_none_or(|column| node.position("varattno") == column)
        };

        let applies = |condition: &&Condition<'_>| condition.within.iter().all(is_there);

        self.conditions
            .iter()
            .filter(applies)
            .any(|condition| condition.expression.any(&is_meant))
    }

    /// Records that a relation is present in every row that has these sides; false if they do not
    /// all contain the relation.
    pub(super) fn find(&mut self, relation: usize, within: &[Side]) -> bool {
        let Some(around) = self.around.get(&relation) else {
            return false;
        };
        if !within.iter().all(|side| around.contains(side)) {
            return false;
        }

        self.present
            .extend(around.iter().filter(|side| !within.contains(side)));

        true
    }

    /// Records that a side is never missing; false if this was already recorded.
    pub(super) fn keep(&mut self, side: Side) -> bool {
        self.present.insert(side)
    }

    /// Treats both sides of a join as present.
    pub(super) fn complete(&mut self, join: usize) {
        self.present
            .extend([false, true].map(|is_right| Side { join, is_right }));
    }
}
