//! Conditions, and the columns that cannot be null if they hold.

use std::collections::{HashMap, HashSet};

use super::functions::Function;
use super::tree::{Node, Value};

/// A column of a relation in the same query.
pub(super) type Column = (usize, usize);

const IS_NOT_NULL: i64 = 1;

/// Derives facts from conditions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prover<'a> {
    pub(super) functions: &'a HashMap<u32, Function>,
    pub(super) relations: &'a [&'a Node],
}

impl Prover<'_> {
    /// The columns that are not null if a condition is true.
    pub(super) fn true_for(self, condition: &Node) -> HashSet<Column> {
        match condition.name.as_str() {
            "BOOLEXPR" => {
                let args = condition.nodes("args");
                match condition.text("boolop") {
                    "and" => args
                        .into_iter()
                        .flat_map(|arg| self.true_for(arg))
                        .collect(),
                    "or" => shared(args.into_iter().map(|arg| self.true_for(arg))),
                    _ => match args.as_slice() {
                        [test] if is_null_test(test, 0) => self.argument(test),
                        _ => self.value_of(condition),
                    },
                }
            }
            "NULLTEST" if is_null_test(condition, IS_NOT_NULL) => self.argument(condition),
            "NULLTEST" => HashSet::new(),
            // `IS TRUE`.
            "BOOLEANTEST" if condition.number("booltesttype") == 0 => condition
                .node("arg")
                .map(|arg| self.true_for(arg))
                .unwrap_or_default(),
            // `IS FALSE` and `IS NOT UNKNOWN`.
            "BOOLEANTEST" if [2, 5].contains(&condition.number("booltesttype")) => {
                self.argument(condition)
            }
            // An element matches, so there is one.
            "SCALARARRAYOPEXPR" if condition.flag("useOr") => self.compared(condition),
            "SUBLINK" if condition.number("subLinkType") == 2 => condition
                .node("testexpr")
                .map(|test| self.value_of(test))
                .unwrap_or_default(),
            _ => self.value_of(condition),
        }
    }

    fn argument(self, test: &Node) -> HashSet<Column> {
        test.node("arg")
            .map(|arg| self.value_of(arg))
            .unwrap_or_default()
    }

    /// The columns that are not null if an expression is not.
    fn value_of(self, expression: &Node) -> HashSet<Column> {
        match expression.name.as_str() {
            "VAR" => self.column(expression),
            "FUNCEXPR" => self.arguments(expression, expression.oid("funcid")),
            "OPEXPR" => self.arguments(expression, expression.oid("opfuncid")),
            // `NULL = ANY ('{}')` is false, and `NULL = ALL ('{}')` is true.
            "SCALARARRAYOPEXPR" if has_elements(expression) => self.compared(expression),
            "RELABELTYPE" | "COERCEVIAIO" | "ARRAYCOERCEEXPR" | "COERCETODOMAIN" | "COLLATE"
            | "COLLATEEXPR" => self.argument(expression),
            "BOOLEXPR" => shared(
                expression
                    .nodes("args")
                    .into_iter()
                    .map(|arg| self.value_of(arg)),
            ),
            _ => HashSet::new(),
        }
    }

    fn arguments(self, call: &Node, function: u32) -> HashSet<Column> {
        if !self.is_strict(function) {
            return HashSet::new();
        }
        call.nodes("args")
            .into_iter()
            .flat_map(|arg| self.value_of(arg))
            .collect()
    }

    /// The columns that are not null if a comparison with the elements of a non-empty array is not
    /// null.
    fn compared(self, comparison: &Node) -> HashSet<Column> {
        if !self.is_strict(comparison.oid("opfuncid")) {
            return HashSet::new();
        }
        comparison
            .nodes("args")
            .first()
            .map(|arg| self.value_of(arg))
            .unwrap_or_default()
    }

    fn is_strict(self, function: u32) -> bool {
        self.functions
            .get(&function)
            .is_some_and(|function| function.is_strict)
    }

    fn column(self, variable: &Node) -> HashSet<Column> {
        let (relation, column) = (variable.position("varno"), variable.position("varattno"));
        if variable.number("varlevelsup") != 0 || column == 0 {
            return HashSet::new();
        }

        // A column of a join is an alias for a column of one of its sides.
        match joined(self.relations, relation, column) {
            Some(alias) => self.value_of(alias),
            None => HashSet::from([(relation, column)]),
        }
    }
}

/// The expression behind a column of a join.
pub(super) fn joined<'a>(relations: &[&'a Node], join: usize, column: usize) -> Option<&'a Node> {
    let relation = relations.get(join.checked_sub(1)?)?;
    match relation.get("joinaliasvars") {
        Value::List(columns) if relation.number("rtekind") == 2 => {
            columns.get(column.checked_sub(1)?)?.node()
        }
        _ => None,
    }
}

fn is_null_test(test: &Node, kind: i64) -> bool {
    test.name == "NULLTEST" && test.number("nulltesttype") == kind && !test.flag("argisrow")
}

/// Whether the array of a comparison is a list with elements, as in `IN (1, 2)`.
fn has_elements(comparison: &Node) -> bool {
    let args = comparison.nodes("args");
    let mut array = args.get(1).copied();
    while let Some(coercion) =
        array.filter(|array| ["RELABELTYPE", "ARRAYCOERCEEXPR"].contains(&array.name.as_str()))
    {
        array = coercion.node("arg");
    }

    // A list of arrays may have empty arrays only.
    array.is_some_and(|array| {
        ["ARRAY", "ARRAYEXPR"].contains(&array.name.as_str())
            && !array.flag("multidims")
            && !array.nodes("elements").is_empty()
    })
}

fn shared(mut sets: impl Iterator<Item = HashSet<Column>>) -> HashSet<Column> {
    let first = sets.next().unwrap_or_default();
    sets.fold(first, |shared, set| {
        shared.intersection(&set).copied().collect()
    })
}

/// The columns that a check constraint of a table keeps from being null. Unlike a condition of a
/// query, a check also passes on null, so only tests for null count, which are never null
/// themselves.
pub(super) fn checked(check: &Node) -> Vec<usize> {
    match check.name.as_str() {
        "BOOLEXPR" if check.text("boolop") == "and" => {
            check.nodes("args").into_iter().flat_map(checked).collect()
        }
        "NULLTEST" if is_null_test(check, IS_NOT_NULL) => {
            let variable = check.node("arg").filter(|arg| arg.name == "VAR");
            variable
                .map(|variable| variable.position("varattno"))
                .into_iter()
                .filter(|column| *column > 0)
                .collect()
        }
        _ => Vec::new(),
    }
}
