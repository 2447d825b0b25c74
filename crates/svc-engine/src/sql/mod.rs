//! SQL for reads: text from the schema and the catalog, with bound values. Only this module
//! writes SQL for reads.

mod expr;
mod ir;
mod predicate;
mod select;

pub use ir::{Column, Filter, Order, asc, col, desc};

use expr::Tie;
pub use expr::select_form;
pub(crate) use expr::{ColumnForm, Select, is_uuid, value_form};
pub(crate) use ir::{
    AggregateComparison, AggregateFilter, Computed, ComputedColumnCall, Direction, GroupOrder,
    GroupValue, Having, Nulls, OfGroup, OrderAggregate, Rank, RowFilter,
};
pub(crate) use select::{
    CheckedText, GivenRows, GivenValues, Keyset, Query, Reuse, RowRule, RowRules, Selected,
    StatementShape, Subject, Subquery, Window, distinguishing_columns, lock_row, may_be_permitted,
    permitted_row, permitted_rows, record_types,
};
use select::{Checks, Joined, JoinedValue};

use svc_core::schema::{Model, Relation, TypeIndex};
use svc_postgres::{
    Catalog, DbError, Oid, Param, Probe, Statement, StatementSubject, StatementText,
};

/// The context for generating reads: the schema, the current views, and the row rules.
#[derive(Clone, Copy)]
pub(crate) struct Views<'a> {
    pub(crate) model: &'a Model,
    pub(crate) catalog: &'a Catalog,
    /// `None` if the program has no row policies.
    pub(crate) rules: Option<&'a dyn RowRules>,
}

/// The order of a list, including the unique last key that is added for its pages.
///
/// # Errors
/// If the view is unknown.
pub(crate) fn order_keys(views: Views<'_>, query: &Query) -> Result<Vec<Order>, DbError> {
    let mut builder = Builder::new(views);
    let rows = builder.rows(query.row, 0)?;
    Ok(builder.order_keys(&expr::Scope::Row(rows), query))
}

/// Reads rows; each is a row of the result.
pub(crate) fn select_rows(views: Views<'_>, query: &Query) -> Result<Statement, DbError> {
    select_reusable_rows(views, query).map(|(statement, _)| statement)
}

/// Reads rows. Also returns the conditions under which other values can reuse the text, if it
/// is reusable.
pub(crate) fn select_reusable_rows(
    views: Views<'_>,
    query: &Query,
) -> Result<(Statement, Option<Reuse>), DbError> {
    let mut builder = Builder::new(views);
    builder.careful = query.careful;
    let scope = builder.rows(query.row, 0)?;
    builder.query(&scope, query, None, false)?;
    let types = builder.row_types(&scope, query)?;
    let reuse = builder.reuse();
    Ok((builder.finish(query.row, Some(types)), reuse))
}

/// Reads several subqueries at once; each is a column of the single result row.
pub(crate) fn select_subqueries(
    views: Views<'_>,
    subqueries: &[Subquery],
) -> Result<Statement, DbError> {
    let types = subqueries.iter().map(Subquery::oid).collect();
    let row = subqueries.first().map(|subquery| subquery.query().row);
    built(views, row, Some(types), |builder| {
        for (index, subquery) in subqueries.iter().enumerate() {
            builder.careful = subquery.query().careful;
            builder
                .text
                .push_str(if index == 0 { "SELECT " } else { ", " });
            builder.subquery(subquery, 0, None)?;
        }

        // A `SELECT` without `FROM` may have a `WHERE` clause, so the conditions that parse
        // values follow the select list here.
        builder.outermost = Some(builder.text.len());
        Ok(())
    })
}

/// Follows a relation from many keys; a composite key is a JSON list of the texts of its parts.
/// The result has a row for each key, in order, with a column for each part. With careful
/// casts, another column reports whether the key is unreadable. A field derived from a relation
/// also has a value for a parent without a key; it is in an additional last row.
pub(crate) fn select_related(
    views: Views<'_>,
    relation: &Relation,
    parts: &[Subquery],
    keys: Vec<String>,
) -> Result<Statement, DbError> {
    let is_careful = parts.iter().any(|part| part.query().careful);
    let careful = is_careful.then(|| ColumnForm::Bool.oid());
    let types = parts.iter().map(Subquery::oid).chain(careful).collect();

    built(views, Some(relation.row), Some(types), |builder| {
        builder.careful = is_careful;

        // A key from JSON may be `7.0` or too long for 64 bits, which a plain cast to `int8`
        // rejects; keys that are clearly integers avoid the detour through `numeric`.
        let is_exact = keys.iter().all(|key| may_be_integers(key));
        let keys = builder.bind(Param::Texts(keys));
        let inner = builder.rows(relation.row, 1)?;
        let to = builder.compared_keys(&inner, relation)?;
        let from = to.iter().enumerate();
        let from =
            from.map(|(at, to)| builder.key_in_hand(&key_text(relation, at), &to.cast, is_exact));
        let (from, readable): (Vec<String>, Vec<String>) = from.unzip();

        for (index, part) in parts.iter().enumerate() {
            builder
                .text
                .push_str(if index == 0 { "SELECT " } else { ", " });
            builder.subquery(
                part,
                1,
                Some(Tie {
                    relation,
                    from: &from,
                }),
            )?;
        }

        if is_careful {
            let bad = readable
                .iter()
                .map(|key| format!("({key}) IS NULL"))
                .collect::<Vec<_>>()
                .join(" OR ");
            builder.text.push_str(&format!(", {bad}"));
        }

        let keys = if relation.is_derived() {
            format!("array_append({keys}::text[], NULL)")
        } else {
            format!("{keys}::text[]")
        };

        builder
            .text
            .push_str(&format!(" FROM unnest({keys}) WITH ORDINALITY AS k(v, n)"));

        // The conditions that parse values become a `WHERE` clause, which precedes `ORDER BY`.
        builder.outermost = Some(builder.text.len());
        builder.text.push_str(" ORDER BY k.n");

        Ok(())
    })
}

pub(in crate::sql) fn built(
    views: Views<'_>,
    row: Option<TypeIndex>,
    types: Option<Vec<Oid>>,
    write: impl FnOnce(&mut Builder<'_>) -> Result<(), DbError>,
) -> Result<Statement, DbError> {
    let mut builder = Builder::new(views);
    write(&mut builder)?;
    Ok(builder.finish(row, types))
}

/// Whether all numbers in the text of a key are integers with few enough digits to fit into 64
/// bits.
fn may_be_integers(key: &str) -> bool {
    const DIGITS: usize = 18;
    let is_long = |run: &str| run.len() > DIGITS;
    !key.contains(['.', 'e', 'E'])
        && !key
            .split(|letter: char| !letter.is_ascii_digit())
            .any(is_long)
}

/// The text of a key from the list of keys: all of it, or one part of a composite key.
fn key_text(relation: &Relation, at: usize) -> String {
    match relation.from.len() {
        1 => "k.v".to_owned(),
        _ => format!("(k.v::jsonb ->> {at})"),
    }
}

struct Builder<'a> {
    model: &'a Model,
    catalog: &'a Catalog,
    rules: Option<&'a dyn RowRules>,
    /// The rules that the statement uses, in the order of their values.
    ruled: Vec<select::Ruled>,
    /// Whether a rule is currently being written.
    is_ruling: bool,
    /// The number of values before the next value of a rule whose values are already bound.
    bound_again: Option<usize>,
    text: String,
    params: Vec<Param>,
    replan: bool,
    /// The casts of comparison values, by placeholder number.
    casts: Vec<(usize, String)>,
    /// The checks of the arguments of calls.
    probes: Vec<Probe>,
    checks: Checks,
    /// Whether other values of the same form need a different text.
    depends_on_values: bool,
    /// Whether to use careful casts, which skip unreadable values.
    careful: bool,
    /// The number of conditions on related rows written so far.
    related_conditions: usize,
    /// The position in the text at which the conditions of the outermost query begin.
    outermost: Option<usize>,
    /// The tie of the current query, if a junction view with a type joins its rows.
    joined: Option<Joined>,
    /// The values of the current group key that are read from joined rows.
    group_values: Vec<JoinedValue>,
}

impl<'a> Builder<'a> {
    fn new(views: Views<'a>) -> Self {
        Self {
            model: views.model,
            catalog: views.catalog,
            rules: views.rules,
            ruled: Vec::new(),
            is_ruling: false,
            bound_again: None,
            text: String::with_capacity(512),
            params: Vec::new(),
            replan: false,
            casts: Vec::new(),
            probes: Vec::new(),
            checks: Checks::new(),
            depends_on_values: false,
            careful: false,
            related_conditions: 0,
            outermost: None,
            joined: None,
            group_values: Vec::new(),
        }
    }

    /// Completes the statement, which is about rows of a type.
    fn finish(mut self, row: impl Into<Option<TypeIndex>>, types: Option<Vec<Oid>>) -> Statement {
        self.read_values_first();
        let source = row.into().and_then(|row| self.model.source(row));
        let subject = source.map(|name| StatementSubject {
            kind: "select",
            name: name.into(),
        });
        let text = StatementText::about(subject, self.text, types, self.casts).calling(self.probes);

        Statement {
            replan: self.replan,
            ..Statement::new(text, self.params)
        }
    }

    /// Binds a value and returns its placeholder.
    fn bind(&mut self, param: Param) -> String {
        self.params.push(param);
        format!("${}", self.params.len())
    }
}
