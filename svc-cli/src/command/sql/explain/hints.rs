//! Hints about valid statements that may be slow.

use squawk_syntax::ast::{
    AstNode, BinExpr, BinOp, CallExpr, CompoundOp, CompoundSelect, Expr, OffsetClause, Select,
    SelectQuantifier, Stmt,
};

use super::pieces::conjuncts;
use super::{Remark, text};

/// The hints about a statement.
pub(super) fn of(statement: &Stmt) -> Vec<Remark> {
    let mut found = Vec::new();
    for node in statement.syntax().descendants() {
        found.extend(CompoundSelect::cast(node.clone()).and_then(|compound| union(&compound)));
        found.extend(OffsetClause::cast(node.clone()).and_then(|offset| pages(&offset)));
        found.extend(CallExpr::cast(node.clone()).and_then(|call| random(&call)));

        if let Some(select) = Select::cast(node) {
            found.extend(distinct(&select));
            let condition = select.where_clause().and_then(|clause| clause.expr());
            found.extend(
                condition
                    .iter()
                    .flat_map(conjuncts)
                    .filter_map(|condition| index(&condition)),
            );
        }
    }

    found
}

fn remark(node: &impl AstNode, words: String) -> Option<Remark> {
    Some(Remark {
        at: text::start(node.syntax()),
        words,
    })
}

fn union(compound: &CompoundSelect) -> Option<Remark> {
    let operator = compound.op()?;
    let is_all = text::of(&operator).to_ascii_uppercase().ends_with("ALL");
    if !matches!(operator, CompoundOp::Union(_)) || is_all {
        return None;
    }

    remark(
        &operator,
        "UNION compares all rows to remove duplicates; UNION ALL does not".to_owned(),
    )
}

fn pages(offset: &OffsetClause) -> Option<Remark> {
    remark(
        offset,
        "OFFSET reads all rows that it skips; a cursor (`WHERE id > $1`) reads only the rows of the page"
            .to_owned(),
    )
}

fn random(call: &CallExpr) -> Option<Remark> {
    let is_random = text::of(&call.expr()?).eq_ignore_ascii_case("random");
    let sorts = call
        .syntax()
        .ancestors()
        .any(|node| squawk_syntax::ast::OrderByClause::can_cast(node.kind()));
    let words = "ORDER BY random() reads and sorts every row; TABLESAMPLE reads only some";
    if is_random && sorts {
        remark(call, words.to_owned())
    } else {
        None
    }
}

fn distinct(select: &Select) -> Option<Remark> {
    let clause = select.select_clause()?;
    let SelectQuantifier::DistinctClause(distinct) = clause.select_quantifier()? else {
        return None;
    };

    let from = select.from_clause()?;
    let joins = from
        .syntax()
        .descendants()
        .any(|node| squawk_syntax::ast::Join::can_cast(node.kind()));
    if !joins || distinct.distinct_on().is_some() {
        return None;
    }

    remark(
        &distinct,
        "DISTINCT after a join often hides duplicates that the join creates; EXISTS creates none"
            .to_owned(),
    )
}

/// The hint about an index for a condition, if any.
fn index(condition: &Expr) -> Option<Remark> {
    let Expr::BinExpr(comparison) = condition else {
        return None;
    };

    let (left, right) = (comparison.lhs()?, comparison.rhs()?);
    let operator = comparison.op()?;
    match (&operator, &left) {
        (BinOp::Like(_) | BinOp::Ilike(_), _) => pattern(comparison, &operator, &left, &right),
        (
            BinOp::Eq(_) | BinOp::LAngle(_) | BinOp::RAngle(_) | BinOp::Lteq(_) | BinOp::Gteq(_),
            Expr::CallExpr(call),
        ) => {
            let words = format!(
                "only an index on the expression helps: CREATE INDEX ON … (({}))",
                text::of(call)
            );
            remark(comparison, words)
        }
        (BinOp::Eq(_), Expr::FieldExpr(_) | Expr::NameRef(_)) if is_value(&right) => {
            let column = text::of(&left);
            let column = column.rsplit('.').next().unwrap_or_default();
            remark(
                comparison,
                format!("an index on ({column}) finds these rows without reading the others"),
            )
        }
        _ => None,
    }
}

/// Whether an expression is the same for all rows.
fn is_value(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(_) => true,
        Expr::CastExpr(cast) => cast
            .syntax()
            .descendants()
            .all(|node| !squawk_syntax::ast::FieldExpr::can_cast(node.kind())),
        _ => false,
    }
}

fn pattern(
    comparison: &BinExpr,
    operator: &BinOp,
    column: &Expr,
    pattern: &Expr,
) -> Option<Remark> {
    let text = text::of(pattern);
    let begins_with_any = text.starts_with("'%") || text.starts_with("'_");
    if !begins_with_any && matches!(operator, BinOp::Like(_)) {
        return None;
    }

    let column = text::of(column);
    let column = column.rsplit('.').next().unwrap_or_default();
    let why = "only a trigram index helps with text in the middle or in any case";

    remark(
        comparison,
        format!("{why}: CREATE INDEX ON … USING gin ({column} gin_trgm_ops)"),
    )
}
