//! The relations of a query that are not tables: subqueries, functions, lists of values, common
//! table expressions.

use super::proofs::Column;
use super::scope::{RELATION, SUBQUERY, Scope};
use super::tree::{Node, Value};
use super::{Facts, Nulls};

const FUNCTION: i64 = 3;
const VALUES: i64 = 5;
const CTE: i64 = 6;
const GROUP: i64 = 9;

/// Functions whose rows are not null in any column.
const FILLED_ROWS: [&str; 11] = [
    "generate_series",
    "generate_subscripts",
    "json_array_elements",
    "json_each",
    "json_object_keys",
    "jsonb_array_elements",
    "jsonb_each",
    "jsonb_object_keys",
    "jsonb_path_query",
    "regexp_split_to_table",
    "pg_listening_channels",
];

impl<'a> Scope<'a> {
    /// A column of a relation of the query, before the joins.
    pub(super) fn column_of(&self, number: usize, column: usize) -> Nulls {
        let Some(relation) = self.relation(number) else {
            return Nulls::Unknown;
        };

        match relation.number("rtekind") {
            // A whole row, or a system column.
            RELATION | SUBQUERY if column == 0 => Nulls::Never,
            RELATION => self.facts.column(relation.oid("relid"), column),
            SUBQUERY => relation.node("subquery").map_or(Nulls::Unknown, |query| {
                Scope::new(self.facts, query, Some(self)).output(column)
            }),
            FUNCTION => self.column_of_function(relation, column),
            VALUES => self.column_of_values(relation, column),
            CTE => self.column_of_cte(relation, column),
            GROUP if !self.has_grouping_sets() => {
                let expressions = relation.nodes("groupexprs");
                let expression = column
                    .checked_sub(1)
                    .and_then(|index| expressions.get(index).copied());
                expression.map_or(Nulls::Unknown, |expression| self.nulls(expression))
            }
            _ => Nulls::Unknown,
        }
    }

    fn column_of_function(&self, relation: &Node, column: usize) -> Nulls {
        let functions = relation.nodes("functions");

        // With several functions, the shorter results are padded with nulls.
        let [function] = functions.as_slice() else {
            return Nulls::Unknown;
        };
        if relation.flag("funcordinality") && column == function.position("funccolcount") + 1 {
            return Nulls::Never;
        }

        let Some(call) = function.node("funcexpr") else {
            return Nulls::Unknown;
        };

        let name = self
            .facts
            .catalog
            .functions
            .get(&call.oid("funcid"))
            .map_or("", |function| function.built_in());

        if call.name == "FUNCEXPR" && FILLED_ROWS.contains(&name) {
            return Nulls::Never;
        }

        if call.flag("funcretset") || function.number("funccolcount") != 1 {
            return Nulls::Unknown;
        }

        self.nulls(call)
    }

    fn column_of_values(&self, relation: &Node, column: usize) -> Nulls {
        let Value::List(rows) = relation.get("values_lists") else {
            return Nulls::Unknown;
        };

        let value = |row: &Value| match (row, column.checked_sub(1)) {
            (Value::List(values), Some(index)) => values
                .get(index)
                .and_then(Value::node)
                .map_or(Nulls::Unknown, |value| self.nulls(value)),
            _ => Nulls::Unknown,
        };

        Nulls::any(rows.iter().map(value))
    }

    /// The common table expression that a relation refers to, and the query that defines it.
    pub(super) fn cte(&self, relation: &Node) -> Option<(&Self, &'a Node)> {
        let mut scope = self;
        for _ in 0..relation.number("ctelevelsup") {
            scope = scope.outer?;
        }

        let name = relation.text("ctename");
        let found = scope
            .query
            .nodes("cteList")
            .into_iter()
            .find(|cte| cte.text("ctename") == name)?;

        Some((scope, found))
    }

    fn column_of_cte(&self, relation: &Node, column: usize) -> Nulls {
        let Some((scope, cte)) = self.cte(relation) else {
            return Nulls::Unknown;
        };

        let Some(query) = cte.node("ctequery") else {
            return Nulls::Unknown;
        };
        if relation.flag("self_reference") {
            return scope.facts.assumed(cte, column);
        }

        if !cte.flag("cterecursive") {
            return Scope::new(self.facts, query, Some(scope)).output(column);
        }

        match scope
            .filled_by_recursion(cte, query)
            .get(column.wrapping_sub(1))
        {
            Some(true) => Nulls::Never,
            _ => Nulls::Unknown,
        }
    }

    /// The columns of a recursive query that are never null, assuming that they were not null in
    /// the previous rows.
    fn filled_by_recursion(&self, cte: &Node, query: &Node) -> Vec<bool> {
        let count = query
            .nodes("targetList")
            .iter()
            .filter(|entry| !entry.flag("resjunk"))
            .count();

        // Begins with all columns and removes a column without a proof: as fewer assumptions never
        // prove more, this ends, and the rest holds by induction over the rows.
        let mut filled = vec![true; count];
        loop {
            self.facts.assume(cte, filled.clone());
            let scope = Scope::new(self.facts, query, Some(self));
            let hold = |column: usize| filled[column] && scope.output(column + 1) == Nulls::Never;
            let next: Vec<bool> = (0..count).map(hold).collect();
            self.facts.forget();
            if next == filled {
                return filled;
            }
            filled = next;
        }
    }

    /// Runs `work` with columns that a condition proves not to be null.
    pub(super) fn under<T>(
        &self,
        columns: impl IntoIterator<Item = Column>,
        work: impl FnOnce() -> T,
    ) -> T {
        let before = self.tested.borrow().len();
        self.tested.borrow_mut().extend(columns);
        let done = work();
        self.tested.borrow_mut().truncate(before);
        done
    }
}

impl Facts {
    fn assume(&self, cte: &Node, filled: Vec<bool>) {
        self.assumed
            .borrow_mut()
            .push((std::ptr::from_ref(cte) as usize, filled));
    }

    fn forget(&self) {
        self.assumed.borrow_mut().pop();
    }

    /// A column of the previous rows in a recursive query.
    fn assumed(&self, cte: &Node, column: usize) -> Nulls {
        let assumed = self.assumed.borrow();
        let of = assumed
            .iter()
            .rev()
            .find(|(of, _)| *of == std::ptr::from_ref(cte) as usize);

        match of.and_then(|(_, filled)| filled.get(column.checked_sub(1)?)) {
            Some(true) => Nulls::Never,
            _ => Nulls::Unknown,
        }
    }
}
