//! The form of a query: all of it but its values. A statement is written once for a form, and bound for each request.

use super::super::filter::{Filter, Order};
use super::super::{DbError, Operator, SqlValue};
use super::bound::bind;
use super::cast::is_value;
use super::query::Window;
use super::select::{FIRST, bound};
use super::{Builder, Param};

/// Which texts the values of a statement must be for its text to hold; one for each comparison, in their order.
pub(crate) type Checks = Vec<Option<String>>;

/// What of a query can differ from one request to the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Varying<'a> {
    pub(crate) filter: &'a Filter,
    pub(crate) order: &'a [Order],
    pub(crate) page: Option<Window>,
}

impl Varying<'_> {
    /// Whether a statement for the one, with other values, is right for the other.
    pub(crate) fn has_form_of(&self, other: &Self) -> bool {
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

    /// Binds the values in the order of the placeholders. `false` when a value needs another text.
    pub(crate) fn bind<'c>(
        &self,
        checks: &mut impl Iterator<Item = &'c Option<String>>,
        params: &mut Vec<Param>,
    ) -> Result<bool, DbError> {
        if !bind_filter(self.filter, checks, params)? {
            return Ok(false);
        }
        for rank in self.order.iter().filter_map(|key| key.rank.as_ref()) {
            bind(rank.operator, &rank.query, params)?;
        }
        match self.page {
            Some(page) if page != FIRST => {
                params.push(Param::Int(page.limit));
                params.extend((page.offset != 0).then_some(Param::Int(page.offset)));
            }
            _ => {}
        }
        Ok(true)
    }
}

fn same_order(one: &Order, other: &Order) -> bool {
    let rank = match (&one.rank, &other.rank) {
        (None, None) => true,
        (Some(one), Some(other)) => one.operator == other.operator && same_value(&one.query, &other.query),
        _ => false,
    };
    rank && one.column == other.column && one.direction == other.direction && one.nulls == other.nulls
}

fn same_filter(one: &Filter, other: &Filter) -> bool {
    use Filter as F;
    let all = |one: &[Filter], other: &[Filter]| {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same_filter(one, other))
    };
    match (one, other) {
        (F::All(one), F::All(other)) | (F::Any(one), F::Any(other)) => all(one, other),
        (F::Not(one), F::Not(other)) => same_filter(one, other),
        (F::Some(column, one), F::Some(same, other)) => column == same && same_filter(one, other),
        (F::Compare(column, operator, one), F::Compare(same, op, other)) => {
            // What the ends of a range are like decides about its text.
            column == same && operator == op && *operator != Operator::InRange && same_value(one, other)
        }
        _ => false,
    }
}

fn same_value(one: &SqlValue, other: &SqlValue) -> bool {
    use SqlValue as V;
    match (one, other) {
        (V::Null, V::Null) | (V::List(_), V::List(_)) | (V::Int(_) | V::Text(_), V::Int(_) | V::Text(_)) => true,
        // `isnull: true` and `isnull: false` are different texts.
        (V::Bool(one), V::Bool(other)) => one == other,
        _ => false,
    }
}

fn bind_filter<'c>(
    filter: &Filter,
    checks: &mut impl Iterator<Item = &'c Option<String>>,
    params: &mut Vec<Param>,
) -> Result<bool, DbError> {
    match filter {
        Filter::All(all) | Filter::Any(all) => {
            for filter in all {
                if !bind_filter(filter, checks, params)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Filter::Not(inner) | Filter::Some(_, inner) => bind_filter(inner, checks, params),
        Filter::Compare(_, operator, value) => {
            let check = checks.next().and_then(Option::as_ref);
            if check.is_some_and(|cast| value.texts().any(|text| !is_value(cast, &text))) {
                return Ok(false);
            }
            bind(*operator, value, params)?;
            Ok(true)
        }
    }
}

impl Builder<'_> {
    /// What the values must be for the text to hold; `None` when it holds for no other values.
    pub(super) fn checks(&mut self) -> Option<Checks> {
        (!self.depends_on_values).then(|| std::mem::take(&mut self.checks))
    }
}
