//! The shape of a statement: its whole query except the values. A statement is written once per
//! shape, and bound for each request.

use super::query::Window;
use super::{FIRST, bound};
use crate::sql::expr::cast::is_value;
use crate::sql::ir::{
    AggregateComparison, AggregateFilter, Column, Filter, Order, OrderAggregate, Rank,
};
use crate::sql::predicate::bind;
use svc_core::scalar::sql_value::SqlValue;
use svc_core::schema::Operator;
use svc_postgres::{Catalog, DbError, Param};

/// The types that the values of a statement must be valid for if its text is reused; one entry per
/// comparison, in order.
pub(crate) type Checks = Vec<Option<String>>;

/// The parts of a query that can differ between requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatementShape<'a> {
    pub(crate) filter: &'a Filter,
    pub(crate) order: &'a [Order],
    pub(crate) page: Option<Window>,
    /// Whether the rows next to the page are also read, which is possible for every shape of a
    /// page.
    pub(crate) neighbours: bool,
}

impl StatementShape<'_> {
    /// Whether a statement for one of them can be reused for the other, with other values.
    pub(crate) fn has_shape_of(&self, other: &Self) -> bool {
        // The text has a literal `LIMIT 1` for a single row, and an `OFFSET` only for later pages.
        let same_page = match (self.page, other.page) {
            (Some(one), Some(other)) => {
                bound(one) == bound(other)
                    && (one == FIRST) == (other == FIRST)
                    && (one.offset == 0) == (other.offset == 0)
            }
            (one, other) => one == other,
        };

        let mut orders = self.order.iter().zip(other.order);
        same_page
            && self.order.len() == other.order.len()
            && orders.all(|(one, other)| same_order(one, other))
            && same_filter(self.filter, other.filter)
    }

    /// Binds the values in the order of the placeholders. Returns `false` if a value needs a
    /// different text.
    pub(crate) fn bind<'c>(
        &self,
        catalog: &Catalog,
        checks: &mut impl Iterator<Item = &'c Option<String>>,
        params: &mut Vec<Param>,
    ) -> Result<bool, DbError> {
        if !bind_filter(self.filter, catalog, checks, params)? {
            return Ok(false);
        }

        for key in self.order {
            key.column.bind(catalog, params)?;
            if let Some(rank) = &key.rank {
                bind(rank.operator, &rank.query, params)?;
            }
            if let Some(by) = &key.aggregate
                && !bind_filter(&by.filter, catalog, checks, params)?
            {
                return Ok(false);
            }
        }

        match self.page {
            Some(page) if page != FIRST => {
                let read = if self.neighbours {
                    page.with_neighbours()
                } else {
                    page
                };
                params.push(Param::Int(read.limit));
                params.extend((page.offset != 0).then_some(Param::Int(read.offset)));
            }
            _ => {}
        }

        Ok(true)
    }
}

impl Filter {
    /// The same shape, with placeholder values.
    pub(crate) fn without_values(&self) -> Self {
        let all = |all: &[Self]| all.iter().map(Self::without_values).collect();
        match self {
            Self::All(filters) => Self::All(all(filters)),
            Self::Any(filters) => Self::Any(all(filters)),
            Self::Not(inner) => Self::Not(Box::new(inner.without_values())),
            Self::Strict(inner) => Self::Strict(Box::new(inner.without_values())),
            Self::Some(column, inner) => {
                Self::Some(column.clone(), Box::new(inner.without_values()))
            }
            Self::Aggregate(column, of) => {
                let bare = |having: &AggregateComparison| AggregateComparison {
                    operand: formal(&having.operand),
                    ..having.clone()
                };
                let having = of.having.iter().map(bare).collect();
                let of = AggregateFilter {
                    filter: of.filter.without_values(),
                    having,
                };
                Self::Aggregate(column.clone(), Box::new(of))
            }
            Self::Compare(column, operator, value) => {
                Self::Compare(column.without_values(), *operator, formal(value))
            }
        }
    }
}

impl Column {
    /// The same form, with placeholder arguments.
    pub(super) fn without_values(&self) -> Self {
        let call = self.call.as_ref().map(|call| call.without_values().into());
        Self {
            path: self.path.clone(),
            call,
        }
    }

    /// Whether both are equal except for the values of arguments.
    pub(super) fn has_form_of(&self, other: &Self) -> bool {
        self.path == other.path
            && match (&self.call, &other.call) {
                (None, None) => true,
                (Some(one), Some(other)) => one.has_form_of(other),
                _ => false,
            }
    }

    /// Binds the arguments in the same order as the code that writes the column.
    pub(super) fn bind(&self, catalog: &Catalog, params: &mut Vec<Param>) -> Result<(), DbError> {
        self.call
            .as_ref()
            .map_or(Ok(()), |call| call.bind(catalog, params))
    }
}

impl Order {
    /// The same shape, with a placeholder value.
    pub(crate) fn without_value(&self) -> Self {
        let rank = self.rank.as_ref().map(|rank| Rank {
            operator: rank.operator,
            query: formal(&rank.query),
        });
        let bare = |by: &OrderAggregate| OrderAggregate {
            value: by.value.clone(),
            filter: by.filter.without_values(),
        };

        let aggregate = self.aggregate.as_deref().map(|by| Box::new(bare(by)));
        let (direction, nulls) = (self.direction, self.nulls);

        Self {
            column: self.column.without_values(),
            direction,
            nulls,
            rank,
            aggregate,
        }
    }
}

/// A small value with the same shape.
fn formal(value: &SqlValue) -> SqlValue {
    match value {
        SqlValue::Null => SqlValue::Null,
        SqlValue::Bool(value) => SqlValue::Bool(*value),
        SqlValue::Int(_) | SqlValue::Text(_) => SqlValue::Int(0),
        // In a policy, a list with a null has a different meaning.
        SqlValue::List(_) if value.has_null() => SqlValue::List(vec![SqlValue::Null]),
        SqlValue::List(_) => SqlValue::List(Vec::new()),
    }
}

fn same_order(one: &Order, other: &Order) -> bool {
    let rank = match (&one.rank, &other.rank) {
        (None, None) => true,
        (Some(one), Some(other)) => {
            one.operator == other.operator && same_value(&one.query, &other.query)
        }
        _ => false,
    };

    let aggregate = match (&one.aggregate, &other.aggregate) {
        (None, None) => true,
        (Some(one), Some(other)) => {
            one.value == other.value && same_filter(&one.filter, &other.filter)
        }
        _ => false,
    };

    rank && aggregate
        && one.column.has_form_of(&other.column)
        && one.direction == other.direction
        && one.nulls == other.nulls
}

pub(super) fn same_filter(one: &Filter, other: &Filter) -> bool {
    use Filter as F;

    let all = |one: &[Filter], other: &[Filter]| {
        one.len() == other.len()
            && one
                .iter()
                .zip(other)
                .all(|(one, other)| same_filter(one, other))
    };

    match (one, other) {
        (F::All(one), F::All(other)) | (F::Any(one), F::Any(other)) => all(one, other),
        (F::Not(one), F::Not(other)) | (F::Strict(one), F::Strict(other)) => {
            same_filter(one, other)
        }
        (F::Some(column, one), F::Some(same, other)) => column == same && same_filter(one, other),
        (F::Aggregate(column, one), F::Aggregate(same, other)) => {
            let mut pairs = one.having.iter().zip(&other.having);
            column == same
                && one.having.len() == other.having.len()
                && pairs.all(|(one, other)| {
                    one.value == other.value && same_comparison(one.into(), other.into())
                })
                && same_filter(&one.filter, &other.filter)
        }
        (F::Compare(column, operator, one), F::Compare(same, op, other)) => {
            column.has_form_of(same) && same_comparison((*operator, one), (*op, other))
        }
        _ => false,
    }
}

/// Whether two comparisons of the same operand have the same text. The text of a range comparison
/// depends on its ends.
fn same_comparison(
    (operator, one): (Operator, &SqlValue),
    (other, value): (Operator, &SqlValue),
) -> bool {
    operator == other && operator != Operator::InRange && same_value(one, value)
}

impl<'h> From<&'h AggregateComparison> for (Operator, &'h SqlValue) {
    fn from(having: &'h AggregateComparison) -> Self {
        (having.operator, &having.operand)
    }
}

fn same_value(one: &SqlValue, other: &SqlValue) -> bool {
    use SqlValue as V;
    match (one, other) {
        (V::Null, V::Null) | (V::Int(_) | V::Text(_), V::Int(_) | V::Text(_)) => true,
        (V::List(_), V::List(_)) => one.has_null() == other.has_null(),
        // `isnull: true` and `isnull: false` are different texts.
        (V::Bool(one), V::Bool(other)) => one == other,
        _ => false,
    }
}

pub(super) fn bind_filter<'c>(
    filter: &Filter,
    catalog: &Catalog,
    checks: &mut impl Iterator<Item = &'c Option<String>>,
    params: &mut Vec<Param>,
) -> Result<bool, DbError> {
    match filter {
        Filter::All(all) | Filter::Any(all) => {
            for filter in all {
                if !bind_filter(filter, catalog, checks, params)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Filter::Not(inner) | Filter::Some(_, inner) => bind_filter(inner, catalog, checks, params),
        // Errors in it are not the client's.
        Filter::Strict(inner) => {
            bind_filter(inner, catalog, checks, params).map_err(DbError::of_policy)
        }
        Filter::Aggregate(_, of) => {
            // The conditions on aggregates are in the select list of their subquery, so their
            // values precede those of its `WHERE` clause.
            for having in &of.having {
                if !bind_comparison(having.operator, &having.operand, checks, params)? {
                    return Ok(false);
                }
            }
            bind_filter(&of.filter, catalog, checks, params)
        }
        Filter::Compare(column, operator, value) => {
            column.bind(catalog, params)?;
            bind_comparison(*operator, value, checks, params)
        }
    }
}

fn bind_comparison<'c>(
    operator: Operator,
    value: &SqlValue,
    checks: &mut impl Iterator<Item = &'c Option<String>>,
    params: &mut Vec<Param>,
) -> Result<bool, DbError> {
    let check = checks.next().and_then(Option::as_ref);
    if check.is_some_and(|cast| value.texts().any(|text| !is_value(cast, &text))) {
        return Ok(false);
    }
    bind(operator, value, params)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::{asc, col, desc};

    fn varying<'a>(
        filter: &'a Filter,
        order: &'a [Order],
        page: Option<Window>,
    ) -> StatementShape<'a> {
        StatementShape {
            filter,
            order,
            page,
            neighbours: false,
        }
    }

    #[test]
    fn values_are_not_part_of_the_shape() {
        let filter = |name: &str, ids: Vec<i64>| {
            let either = col("name")
                .contains(name)
                .or(col("tags").some(col("label").ne("x").not()));
            either
                .and(col("id").is_in(ids))
                .and(col("age").gt(name.len() as i64))
                .and(col("gone").is_null())
        };

        let (one, other) = (filter("a", vec![1]), filter("long", vec![1, 2, 3]));
        let page = |limit| Some(Window { limit, offset: 0 });
        for (limit, same) in [(7, true), (8, true), (9, false)] {
            let (one, other) = (
                varying(&one, &[], page(8)),
                varying(&other, &[], page(limit)),
            );
            assert_eq!(one.has_shape_of(&other), same, "{limit}");
        }

        let bare = other.without_values();
        assert!(varying(&one, &[], None).has_shape_of(&varying(&bare, &[], None)));

        assert!(!format!("{bare:?}").contains("long"));
    }

    #[test]
    fn parts_that_change_the_text_are_part_of_the_shape() {
        let all = Filter::All(Vec::new());
        for (one, other) in [
            (col("a").eq(1), col("b").eq(1)),
            (col("a").eq(1), col("a").ne(1)),
            (col("a").eq(1), col("a").eq(None::<i64>)),
            (
                col("a").is_null(),
                Filter::Compare(col("a"), Operator::IsNull, SqlValue::Bool(false)),
            ),
            (col("a").eq(1), col("a").eq(1).and(col("a").eq(1))),
            (
                col("a").eq(1).or(col("b").eq(1)),
                Filter::All(vec![col("a").eq(1), col("b").eq(1)]),
            ),
            (col("a").eq(1), col("a").eq(1).not()),
        ] {
            assert!(
                !varying(&one, &[], None).has_shape_of(&varying(&other, &[], None)),
                "{one:?} {other:?}"
            );
        }

        for (one, other) in [
            (asc("a"), desc("a")),
            (asc("a"), asc("b")),
            (asc("a"), asc("a").nulls_first()),
        ] {
            assert!(!varying(&all, &[one], None).has_shape_of(&varying(&all, &[other], None)));
        }

        let window = |limit, offset| Some(Window { limit, offset });
        for (one, other) in [
            (window(1, 0), window(2, 0)),
            (window(5, 0), window(5, 2)),
            (window(5, 0), None),
        ] {
            assert!(!varying(&all, &[], one).has_shape_of(&varying(&all, &[], other)));
        }

        // The text depends on the ends of the range.
        let ends = SqlValue::List(vec!["10.0.0.1".into(), "10.0.0.2".into()]);
        let range = Filter::Compare(col("a"), Operator::InRange, ends);

        assert!(!varying(&range, &[], None).has_shape_of(&varying(&range, &[], None)));
    }
}
