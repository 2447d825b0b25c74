//! Common mistakes: statements that run, but whose effect differs from their appearance.

use squawk_syntax::SyntaxNode;
use squawk_syntax::ast::{
    AstNode, BinExpr, BinOp, CallExpr, CreateView, Delete, Expr, FromItem, FromListItem, Join,
    JoinType, LitKind, Select, SelectTailClause, Stmt, Update,
};

use super::pieces::conjuncts;
use super::{Remark, text};

/// The mistakes of a statement.
pub(super) fn of(statement: &Stmt) -> Vec<Remark> {
    let mut found = Vec::new();
    for node in statement.syntax().descendants() {
        found.extend(BinExpr::cast(node.clone()).and_then(|expr| comparison(&expr)));
        found.extend(CallExpr::cast(node.clone()).and_then(|call| function(&call)));
        found.extend(CreateView::cast(node.clone()).and_then(|view| star(&view)));
        if let Some(select) = Select::cast(node.clone()) {
            found.extend(limit(&select));
            found.extend(product(&select));
            found.extend(outer_join(&select));
        }
        found.extend(everything(node));
    }

    found
}

fn remark(node: &impl AstNode, words: String) -> Option<Remark> {
    Some(Remark {
        at: text::start(node.syntax()),
        words,
    })
}

/// `= NULL`, and `NOT IN` with a query.
fn comparison(expr: &BinExpr) -> Option<Remark> {
    let (left, right) = (expr.lhs()?, expr.rhs()?);
    let is_null = |side: &Expr| matches!(side, Expr::Literal(literal) if matches!(literal.kind(), Some(LitKind::Null(_))));
    let instead = match expr.op()? {
        BinOp::Eq(_) => "IS NULL",
        BinOp::Neq(_) | BinOp::Neqb(_) => "IS NOT NULL",
        BinOp::NotIn(_) => {
            let is_query = right
                .syntax()
                .descendants()
                .any(|node| Select::can_cast(node.kind()));
            let words =
                "NOT IN keeps no rows if the subquery returns a null; write NOT EXISTS (SELECT …)";
            return if is_query {
                remark(expr, words.to_owned())
            } else {
                None
            };
        }
        _ => return None,
    };

    let value = if is_null(&right) {
        left
    } else if is_null(&left) {
        right
    } else {
        return None;
    };

    remark(
        expr,
        format!(
            "`{}` is never true; write `{} {instead}`",
            text::of(expr),
            text::of(&value)
        ),
    )
}

/// Aggregates and JSON functions.
fn function(call: &CallExpr) -> Option<Remark> {
    let name = text::of(&call.expr()?).to_ascii_lowercase();
    match name.as_str() {
        "json_build_object" | "json_build_array" | "json_agg" | "json_object_agg" | "to_json"
        | "row_to_json" => {
            let better = name
                .replace("row_to_json", "to_json")
                .replacen("json", "jsonb", 1);
            remark(
                call,
                format!(
                    "`{name}` returns json, which has no indexed filters on keys; write `{better}`"
                ),
            )
        }
        "jsonb_agg" | "array_agg" | "string_agg" => {
            let arguments = text::of(&call.arg_list()?).to_ascii_uppercase();
            let is_ordered = arguments.contains("ORDER BY") || has_order_below(call);
            if !is_ordered {
                return remark(
                    call,
                    format!("`{name}` without ORDER BY returns its elements in any order"),
                );
            }
            None
        }
        _ => None,
    }
    .or_else(|| empty(call, &name))
}

/// Whether the rows of an aggregate come from an ordered query.
fn has_order_below(call: &CallExpr) -> bool {
    let select = call.syntax().ancestors().find_map(Select::cast);
    let from = select.and_then(|select| select.from_clause());

    // PostgreSQL passes the rows of a sorted subquery to an aggregate in their order.
    from.is_some_and(|from| {
        from.syntax()
            .descendants()
            .any(|node| squawk_syntax::ast::OrderByClause::can_cast(node.kind()))
    })
}

/// An aggregate without input rows, which is null.
fn empty(call: &CallExpr, name: &str) -> Option<Remark> {
    if name != "jsonb_agg" && name != "array_agg" {
        return None;
    }

    let is_coalesced = call
        .syntax()
        .ancestors()
        .filter_map(CallExpr::cast)
        .any(|outer| {
            outer
                .expr()
                .is_some_and(|name| text::of(&name).eq_ignore_ascii_case("coalesce"))
        });

    // A group has at least one row.
    let is_grouped = call
        .syntax()
        .ancestors()
        .find_map(Select::cast)
        .is_some_and(|select| select.group_by_clause().is_some());

    if is_coalesced || is_grouped {
        return None;
    }

    remark(
        call,
        format!(
            "`{name}` of no rows is null, not an empty list; write `coalesce({name}(…), '[]')`"
        ),
    )
}

/// `SELECT *` in a view.
fn star(view: &CreateView) -> Option<Remark> {
    let squawk_syntax::ast::SelectVariant::Select(select) = view.query()? else {
        return None;
    };

    let target = select
        .select_clause()?
        .target_list()?
        .targets()
        .find(|target| text::of(target).ends_with('*'))?;

    remark(
        &target,
        "`*` in a view stands for the current columns; columns that are added to a table later are not in the view"
            .to_owned(),
    )
}

/// `LIMIT` without an order.
fn limit(select: &Select) -> Option<Remark> {
    let clauses: Vec<SelectTailClause> = select.tail_clauses().collect();
    let is_ordered = clauses
        .iter()
        .any(|clause| matches!(clause, SelectTailClause::OrderByClause(_)));
    let page = clauses.into_iter().find(|clause| {
        matches!(
            clause,
            SelectTailClause::LimitClause(_)
                | SelectTailClause::OffsetClause(_)
                | SelectTailClause::FetchClause(_)
        )
    })?;

    if is_ordered {
        return None;
    }

    remark(
        &page,
        "LIMIT and OFFSET without ORDER BY return arbitrary rows, which may differ each time"
            .to_owned(),
    )
}

/// Tables separated by a comma, without a condition.
fn product(select: &Select) -> Option<Remark> {
    let mut items = select.from_clause()?.items();
    let (_, second) = (items.next()?, items.next()?);
    let is_lateral = text::of(&second)
        .to_ascii_uppercase()
        .starts_with("LATERAL");

    // A function may read columns of the table before it, which joins them.
    let is_function = !matches!(
        second,
        FromListItem::FromItem(FromItem::RelationFromItem(_))
    );
    if select.where_clause().is_some() || is_lateral || is_function {
        return None;
    }

    remark(
        &second,
        "tables separated by a comma without WHERE return every combination of rows; write JOIN … ON".to_owned(),
    )
}

/// A condition on the optional side of an outer join, which removes the rows that the join should
/// keep.
fn outer_join(select: &Select) -> Vec<Remark> {
    let condition = select.where_clause().and_then(|clause| clause.expr());
    let optional: Vec<String> = select
        .from_clause()
        .iter()
        .flat_map(|from| from.syntax().descendants())
        .filter_map(Join::cast)
        .filter(|join| matches!(join.join_type(), Some(JoinType::JoinLeft(_))))
        .filter_map(|join| alias(&join.from_list_item()?))
        .collect();

    let conditions = condition.iter().flat_map(conjuncts);
    conditions
        .filter_map(|condition| excludes_null(&condition, &optional))
        .collect()
}

/// A comparison with a column of one of these tables, which never keeps a null.
fn excludes_null(condition: &Expr, tables: &[String]) -> Option<Remark> {
    let Expr::BinExpr(comparison) = condition else {
        return None;
    };

    // Other operators return null for the nulls of a missing row, and WHERE keeps only true.
    let keeps_nulls = matches!(
        comparison.op()?,
        BinOp::Or(_)
            | BinOp::Is(_)
            | BinOp::IsNot(_)
            | BinOp::IsDistinctFrom(_)
            | BinOp::IsNotDistinctFrom(_)
    );

    if keeps_nulls {
        return None;
    }

    let sides = [comparison.lhs()?, comparison.rhs()?];
    let table = sides.iter().find_map(|side| {
        let Expr::FieldExpr(field) = side else {
            return None;
        };
        let base = text::of(&field.base()?);
        tables
            .iter()
            .find(|table| table.eq_ignore_ascii_case(&base))
    })?;

    remark(
        condition,
        format!(
            "`{}` removes the rows that LEFT JOIN {table} keeps; write the condition into ON",
            text::of(condition)
        ),
    )
}

/// The name of a table within its statement.
fn alias(item: &FromListItem) -> Option<String> {
    let FromListItem::FromItem(FromItem::RelationFromItem(relation)) = item else {
        return None;
    };
    let alias = relation
        .alias()
        .and_then(|alias| alias.name())
        .map(|name| text::of(&name));
    alias.or_else(|| relation.name_ref().map(|name| text::of(&name)))
}

/// `UPDATE` and `DELETE` without a condition.
fn everything(node: SyntaxNode) -> Option<Remark> {
    if let Some(update) =
        Update::cast(node.clone()).filter(|update| update.where_clause_or_current_of().is_none())
    {
        return remark(&update, "UPDATE without WHERE changes every row".to_owned());
    }
    let delete =
        Delete::cast(node).filter(|delete| delete.where_clause_or_current_of().is_none())?;
    remark(&delete, "DELETE without WHERE removes every row".to_owned())
}
