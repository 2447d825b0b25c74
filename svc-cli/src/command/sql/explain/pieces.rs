//! The pieces of a statement, in the order of PostgreSQL's evaluation.

use squawk_syntax::ast::{
    BinExpr, BinOp, Expr, FromListItem, JoinCondition, JoinExpr, JoinType, Select,
    SelectTailClause, SelectVariant, Stmt, Target, WithClause,
};

use super::text;

/// A line that describes a statement.
pub(super) fn title(statement: &Stmt) -> String {
    let name = |view: Option<String>| view.unwrap_or_else(|| "a view".to_owned());
    match statement {
        Stmt::CreateView(view) => format!(
            "creates the view {}",
            name(view.view().map(|view| text::of(&view)))
        ),
        Stmt::CreateMaterializedView(view) => {
            format!(
                "creates the materialized view {}, whose rows are stored",
                name(view.view().map(|view| text::of(&view)))
            )
        }
        Stmt::Select(_) | Stmt::CompoundSelect(_) | Stmt::ParenSelect(_) => "reads rows".to_owned(),
        Stmt::Insert(_) => "adds rows".to_owned(),
        Stmt::Update(_) => "changes rows".to_owned(),
        Stmt::Delete(_) => "removes rows".to_owned(),
        other => text::of(other),
    }
}

/// The pieces of a statement with a query.
pub(super) fn of(statement: &Stmt) -> Vec<String> {
    let mut pieces = Vec::new();
    match statement {
        Stmt::CreateView(view) => view
            .query()
            .iter()
            .for_each(|query| query_pieces(query, &mut pieces)),
        Stmt::CreateMaterializedView(view) => view
            .query()
            .iter()
            .for_each(|query| query_pieces(query, &mut pieces)),
        Stmt::Select(select) => select_pieces(select, &mut pieces),
        Stmt::CompoundSelect(select) => {
            query_pieces(&SelectVariant::CompoundSelect(select.clone()), &mut pieces);
        }
        Stmt::ParenSelect(select) => {
            query_pieces(&SelectVariant::ParenSelect(select.clone()), &mut pieces);
        }
        _ => {}
    }

    pieces
}

fn query_pieces(query: &SelectVariant, pieces: &mut Vec<String>) {
    match query {
        SelectVariant::Select(select) => select_pieces(select, pieces),
        SelectVariant::CompoundSelect(compound) => {
            compound
                .lhs()
                .iter()
                .for_each(|query| query_pieces(query, pieces));
            let operator = compound
                .op()
                .map(|operator| text::of(&operator))
                .unwrap_or_default();
            pieces.push(format!("combines the result by {operator} with"));
            compound
                .rhs()
                .iter()
                .for_each(|query| query_pieces(query, pieces));

            compound
                .tail_clauses()
                .for_each(|clause| tail(&clause, pieces));
        }
        SelectVariant::ParenSelect(inner) => {
            inner
                .select()
                .iter()
                .for_each(|query| query_pieces(query, pieces));
            inner
                .tail_clauses()
                .for_each(|clause| tail(&clause, pieces));
        }
        other => pieces.push(format!("takes   {}", text::of(other))),
    }
}

fn select_pieces(select: &Select, pieces: &mut Vec<String>) {
    select
        .with_clause()
        .iter()
        .for_each(|with| names(with, pieces));
    for item in select.from_clause().iter().flat_map(|from| from.items()) {
        from(&item, pieces);
    }

    for condition in select
        .where_clause()
        .and_then(|clause| clause.expr())
        .iter()
        .flat_map(conjuncts)
    {
        pieces.push(format!("keeps   rows where {}", text::of(&condition)));
    }

    if let Some(list) = select
        .group_by_clause()
        .and_then(|clause| clause.group_by_list())
    {
        pieces.push(format!("groups  by {}", text::of(&list)));
    }

    for condition in select
        .having_clause()
        .and_then(|clause| clause.expr())
        .iter()
        .flat_map(conjuncts)
    {
        pieces.push(format!("keeps   groups where {}", text::of(&condition)));
    }

    let targets = select
        .select_clause()
        .and_then(|clause| clause.target_list());
    let columns: Vec<String> = targets
        .iter()
        .flat_map(|list| list.targets())
        .map(|target| column(&target))
        .collect();

    pieces.push(format!("returns {}", columns.join(", ")));

    select
        .tail_clauses()
        .for_each(|clause| tail(&clause, pieces));
}

/// The queries of `WITH`, which are named before the statement.
fn names(with: &WithClause, pieces: &mut Vec<String>) {
    for table in with.with_tables() {
        let name = table.name().map(|name| text::of(&name)).unwrap_or_default();
        let query = table
            .query()
            .map(|query| text::of(&query))
            .unwrap_or_default();
        pieces.push(format!("names   {name}: {query}"));
    }
}

fn from(item: &FromListItem, pieces: &mut Vec<String>) {
    match item {
        FromListItem::FromItem(item) => pieces.push(format!("reads   {}", text::of(item))),
        FromListItem::JoinExpr(join) => joined(join, pieces),
    }
}

fn joined(expr: &JoinExpr, pieces: &mut Vec<String>) {
    expr.from_list_item()
        .iter()
        .for_each(|item| from(item, pieces));
    let Some(join) = expr.join() else { return };
    let table = join
        .from_list_item()
        .map(|item| text::of(&item))
        .unwrap_or_default();
    let condition = match join.join_condition() {
        Some(JoinCondition::OnClause(on)) => {
            on.expr().map(|expr| format!(" where {}", text::of(&expr)))
        }
        Some(JoinCondition::JoinUsingClause(using)) => Some(format!(" {}", text::of(&using))),
        None if join.natural_token().is_some() => {
            Some(" where columns of the same name are equal".to_owned())
        }
        None => Some(", every combination of rows".to_owned()),
    };

    let rest = match join.join_type() {
        Some(JoinType::JoinLeft(_)) => "; rows without a match are kept, with nulls (LEFT JOIN)",
        Some(JoinType::JoinRight(_)) => {
            "; its rows without a match are kept, with nulls (RIGHT JOIN)"
        }
        Some(JoinType::JoinFull(_)) => {
            "; rows of both sides without a match are kept, with nulls (FULL JOIN)"
        }
        _ => "",
    };

    pieces.push(format!(
        "joins   {table}{}{rest}",
        condition.unwrap_or_default()
    ));
}

fn tail(clause: &SelectTailClause, pieces: &mut Vec<String>) {
    pieces.push(match clause {
        SelectTailClause::OrderByClause(order) => {
            format!(
                "sorts   by {}",
                order
                    .sort_by_list()
                    .map(|list| text::of(&list))
                    .unwrap_or_default()
            )
        }
        SelectTailClause::LimitClause(limit) => {
            format!(
                "limits  to {} rows",
                limit
                    .limit_value()
                    .map(|value| text::of(&value))
                    .unwrap_or_default()
            )
        }
        SelectTailClause::OffsetClause(offset) => {
            format!(
                "skips   the first {} rows",
                offset
                    .expr()
                    .map(|expr| text::of(&expr))
                    .unwrap_or_default()
            )
        }
        other => format!("with    {}", text::of(other)),
    });
}

/// The name of a column of the result, or else its expression.
fn column(target: &Target) -> String {
    let name = target.as_name().and_then(|name| name.name());
    name.map_or_else(|| text::of(target), |name| text::of(&name))
}

/// The conditions joined by `AND`.
pub(super) fn conjuncts(expr: &Expr) -> Vec<Expr> {
    let parts = |both: &BinExpr| Some((both.lhs()?, both.rhs()?));
    if let Expr::BinExpr(both) = expr
        && matches!(both.op(), Some(BinOp::And(_)))
        && let Some((left, right)) = parts(both)
    {
        return conjuncts(&left)
            .into_iter()
            .chain(conjuncts(&right))
            .collect();
    }

    vec![expr.clone()]
}
