//! Expressions and the nullability of their values.

use super::Nulls;
use super::functions::Function;
use super::scope::{Scope, has_one_row};
use super::tree::Node;

/// Functions that never return null, regardless of their arguments, unless the arguments are passed
/// as one array.
const NEVER_NULL: [&str; 12] = [
    "array_append",
    "array_prepend",
    "concat",
    "json_build_array",
    "json_build_object",
    "jsonb_build_array",
    "jsonb_build_object",
    "num_nonnulls",
    "num_nulls",
    "version",
    "pg_typeof",
    "txid_current",
];

/// Functions that are null only if their first argument is.
const BY_FIRST: [&str; 2] = ["concat_ws", "format"];

/// `CURRENT_SCHEMA`, the last of the functions without parentheses and the only one that may be
/// null.
const CURRENT_SCHEMA: i64 = 14;

impl Scope<'_> {
    /// The nullability of an expression in the select list.
    pub(super) fn nulls(&self, expression: &Node) -> Nulls {
        // Grouping expressions are null in some of the sets, and this expression may be one of
        // them.
        if self.has_grouping_sets() && expression.name != "CONST" && !has_aggregate(expression) {
            return Nulls::Unknown;
        }

        match expression.name.as_str() {
            "VAR" => self.variable(expression),
            "CONST" if expression.flag("constisnull") => {
                Nulls::Possible("it is the constant NULL".to_owned())
            }
            "CONST" | "NULLTEST" | "BOOLEANTEST" | "DISTINCTEXPR" | "ARRAY" | "ARRAYEXPR"
            | "ROW" | "ROWEXPR" | "GROUPINGFUNC" => Nulls::Never,
            "FUNCEXPR" => self.call(expression, expression.oid("funcid")),
            "OPEXPR" => self.call(expression, expression.oid("opfuncid")),
            "BOOLEXPR" => self.all(expression),
            "RELABELTYPE" | "COERCEVIAIO" | "ARRAYCOERCEEXPR" | "COERCETODOMAIN"
            | "CONVERTROWTYPEEXPR" | "COLLATE" | "COLLATEEXPR" => self.child(expression, "arg"),
            "COALESCE" | "COALESCEEXPR" | "MINMAX" | "MINMAXEXPR" => self.first_of(expression),
            "CASE" | "CASEEXPR" => self.case(expression),
            "SUBLINK" => self.subquery(expression),
            "SQLVALUEFUNCTION" if expression.number("op") != CURRENT_SCHEMA => Nulls::Never,
            // JSON_OBJECT(…) and JSON_ARRAY(…).
            "JSONCONSTRUCTOREXPR" if [1, 2].contains(&expression.number("type")) => Nulls::Never,
            "AGGREF" => self.aggregate(expression),
            "WINDOWFUNC" => self.window(expression),
            _ => Nulls::Unknown,
        }
    }

    fn variable(&self, variable: &Node) -> Nulls {
        let mut scope = self;
        for _ in 0..variable.number("varlevelsup") {
            let Some(outer) = scope.outer else {
                return Nulls::Unknown;
            };
            scope = outer;
        }

        if scope.has_grouping_sets() && !std::ptr::eq(scope, self) {
            return Nulls::Unknown;
        }

        scope.seen(variable.position("varno"), variable.position("varattno"))
    }

    pub(super) fn child(&self, expression: &Node, name: &str) -> Nulls {
        expression
            .node(name)
            .map_or(Nulls::Unknown, |child| self.nulls(child))
    }

    /// A value that may be null if one of its parts is.
    fn all(&self, expression: &Node) -> Nulls {
        // `false AND NULL` is not null, so a null argument proves nothing.
        Nulls::any(
            expression
                .nodes("args")
                .into_iter()
                .map(|arg| self.nulls(arg)),
        )
        .perhaps()
    }

    /// The first of several values that is not null.
    fn first_of(&self, expression: &Node) -> Nulls {
        let all: Vec<Nulls> = expression
            .nodes("args")
            .into_iter()
            .map(|arg| self.nulls(arg))
            .collect();

        if all.contains(&Nulls::Never) {
            return Nulls::Never;
        }

        let is_open = all.iter().all(|nulls| matches!(nulls, Nulls::Possible(_)));
        all.into_iter()
            .next_back()
            .filter(|_| is_open)
            .unwrap_or(Nulls::Unknown)
    }

    pub(super) fn function(&self, oid: u32) -> Option<&Function> {
        self.facts.catalog.functions.get(&oid)
    }

    fn call(&self, call: &Node, oid: u32) -> Nulls {
        let Some(function) = self
            .function(oid)
            .filter(|_| !call.flag("funcretset") && !call.flag("opretset"))
        else {
            return Nulls::Unknown;
        };

        let args = call.nodes("args");

        // With VARIADIC, the arguments are an array, and the function is null for a null array.
        let is_spread = !call.flag("funcvariadic");
        if is_spread && NEVER_NULL.contains(&function.built_in()) {
            return Nulls::Never;
        }

        if is_spread && BY_FIRST.contains(&function.built_in()) {
            return args
                .first()
                .map_or(Nulls::Unknown, |first| self.nulls(first));
        }

        if !function.is_strict {
            return Nulls::Unknown;
        }

        let nulls = Nulls::any(args.into_iter().map(|arg| self.nulls(arg)));

        // A strict function may also return null for other arguments, as `->` does for a key that
        // the document lacks.
        if nulls == Nulls::Never && !function.is_total {
            Nulls::Unknown
        } else {
            nulls
        }
    }

    fn case(&self, case: &Node) -> Nulls {
        let mut results = Vec::new();
        for branch in case.nodes("args") {
            // `CASE x WHEN y` compares with x, which has no name in this expression.
            let tested = match branch.node("expr") {
                Some(condition) if !case.has("arg") => self.prover().true_for(condition),
                _ => Default::default(),
            };
            results.push(self.under(tested, || self.child(branch, "result")));
        }

        results.push(self.child(case, "defresult"));

        // A branch may never be taken, so a null in it proves nothing.
        Nulls::any(results).perhaps()
    }

    fn subquery(&self, link: &Node) -> Nulls {
        match (link.number("subLinkType"), link.node("subselect")) {
            // EXISTS(…) and ARRAY(…).
            (0 | 6, _) => Nulls::Never,
            (4, Some(query)) => {
                let scope = Scope::new(self.facts, query, Some(self));
                match scope.output(1) {
                    // A scalar subquery without a row is null.
                    Nulls::Never if !has_one_row(query) && !scope.is_found_by_key() => {
                        Nulls::Unknown
                    }
                    nulls => nulls,
                }
            }
            _ => Nulls::Unknown,
        }
    }

    /// Whether the query selects exactly the row that a foreign key of the outer row references.
    fn is_found_by_key(&self) -> bool {
        let parts = [
            "setOperations",
            "limitCount",
            "limitOffset",
            "havingQual",
            "groupClause",
            "groupingSets",
        ];

        let is_plain =
            parts.iter().all(|part| !self.query.has(part)) && !self.query.flag("hasTargetSRFs");
        let Some(tree) = self.query.node("jointree").filter(|_| is_plain) else {
            return false;
        };

        match (tree.nodes("fromlist").as_slice(), tree.node("quals")) {
            ([from], Some(condition)) if from.name == "RANGETBLREF" => {
                self.key_leads_to(from.position("rtindex"), condition, 1, &[])
            }
            _ => false,
        }
    }
}

/// Whether an expression is computed from whole groups.
fn has_aggregate(expression: &Node) -> bool {
    expression.any(&|node| matches!(node.name.as_str(), "AGGREF" | "GROUPINGFUNC"))
}
