//! Whether PostgreSQL may fail to evaluate a condition or an order for a row.
//!
//! PostgreSQL orders conditions by their cost, so it may evaluate a client's condition for a row
//! that a policy hides, and its error would reveal that the row exists. Only conditions that may
//! fail wait for the policy, because an index cannot serve them then.

use crate::sql::Builder;
use crate::sql::expr::{Named, RowScope, named};
use crate::sql::ir::{Column, Computed, Filter, Order};
use svc_core::schema::{Operator, TypeIndex};
use svc_postgres::Source;

/// The object that a path has reached.
#[derive(Clone, Copy)]
struct Place<'a> {
    object: TypeIndex,
    /// The view of its row. `None` for a part of JSON, which is read with the whole document.
    source: Option<&'a Source>,
}

impl<'a> Place<'a> {
    fn row(rows: &RowScope<'a>) -> Self {
        Self {
            object: rows.row,
            source: Some(rows.source),
        }
    }

    /// Whether PostgreSQL may fail to compute a field.
    fn may_fail(self, name: &str) -> bool {
        self.source
            .is_some_and(|source| match source.columns.get(name) {
                Some(column) => column.may_fail,
                None => source.data().is_some_and(|data| data.may_fail),
            })
    }
}

/// Whether an operator's value is a pattern that PostgreSQL may fail to apply, such as one that is
/// too expensive for a long text.
fn pattern_may_fail(operator: Operator) -> bool {
    use Operator as O;
    matches!(
        operator,
        O::Matches | O::IMatches | O::Search | O::PathExists | O::MatchesLquery
    )
}

impl<'a> Builder<'a> {
    /// Whether a condition may fail because of a pattern, in a function, or in the expression of a
    /// view's column.
    pub(in crate::sql) fn filter_may_fail(&self, rows: &RowScope<'a>, filter: &Filter) -> bool {
        self.condition_may_fail(Place::row(rows), filter)
    }

    /// Whether an order key may fail.
    pub(in crate::sql) fn order_may_fail(&self, rows: &RowScope<'a>, key: &Order) -> bool {
        let place = Place::row(rows);
        if let Some(by) = &key.aggregate {
            return self.end_may_fail(place, &key.column.path, |end| {
                self.condition_may_fail(end, &by.filter) || self.computed_may_fail(end, &by.value)
            });
        }

        if let (Some(column), Some((object, source))) = (key.column.of_edge(), self.joining()) {
            let source = Some(source);
            return self.column_may_fail(Place { object, source }, &column);
        }

        key.rank.is_some() || self.column_may_fail(place, &key.column)
    }

    fn condition_may_fail(&self, place: Place<'a>, filter: &Filter) -> bool {
        match filter {
            Filter::All(all) | Filter::Any(all) => {
                all.iter().any(|one| self.condition_may_fail(place, one))
            }
            Filter::Not(inner) | Filter::Strict(inner) => self.condition_may_fail(place, inner),
            Filter::Some(column, inner) => self.end_may_fail(place, &column.path, |end| {
                self.condition_may_fail(end, inner)
            }),
            Filter::Aggregate(column, of) => self.end_may_fail(place, &column.path, |end| {
                self.condition_may_fail(end, &of.filter)
                    || of.having.iter().any(|having| {
                        pattern_may_fail(having.operator)
                            || self.computed_may_fail(end, &having.value)
                    })
            }),
            Filter::Compare(column, operator, _) => {
                pattern_may_fail(*operator) || self.column_may_fail(place, column)
            }
        }
    }

    fn column_may_fail(&self, place: Place<'a>, column: &Column) -> bool {
        column.call.is_some() || self.follow(place, &column.path).0
    }

    fn computed_may_fail(&self, place: Place<'a>, value: &Computed) -> bool {
        match value {
            Computed::Count => false,
            Computed::Of(_, column, _) => self.column_may_fail(place, column),
        }
    }

    /// Whether a path, or the evaluation at its end, may fail.
    fn end_may_fail(
        &self,
        place: Place<'a>,
        path: &[String],
        at_end: impl FnOnce(Place<'a>) -> bool,
    ) -> bool {
        // An unknown end counts as one that may fail, since a wrong guess would reveal hidden rows.
        let (may_fail, end) = self.follow(place, path);
        may_fail || end.is_none_or(at_end)
    }

    /// Follows a path: whether one of its fields may fail, and the object at its end.
    fn follow(&self, mut place: Place<'a>, path: &[String]) -> (bool, Option<Place<'a>>) {
        let mut may_fail = false;
        for (at, name) in path.iter().enumerate() {
            match named(self.model, place.object, name) {
                Some(Named::Relation(relation)) => {
                    may_fail |= relation.from.iter().any(|key| place.may_fail(key));
                    place = self.place_of(relation.row);
                }
                Some(Named::Stored(stored)) => {
                    // The column `author_id` may replace `author.id`.
                    let is_key = path.get(at + 1).is_some_and(|next| next == "id");
                    may_fail |=
                        place.may_fail(name) || (is_key && place.may_fail(&format!("{name}_id")));
                    place = Place {
                        object: stored.named,
                        source: None,
                    };
                }
                None => return (may_fail || place.may_fail(name), None),
            }
        }

        (may_fail, Some(place))
    }

    /// The rows of a type.
    fn place_of(&self, row: TypeIndex) -> Place<'a> {
        let source = self.model.source(row);
        Place {
            object: row,
            source: source.and_then(|name| self.catalog.source(name)),
        }
    }
}
