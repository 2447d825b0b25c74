//! Decides from a deletion event alone whether the subscriber could see the row.
//!
//! A deleted row can no longer be read. But its event has the last values of the columns that its
//! trigger names, which are enough if the policies compare no other columns.

use super::event::Subscriber;
use crate::events::RowEvent;
use crate::sql::{Filter, RowRule, Subject};
use svc_core::schema::{Operator, TypeIndex, key_text};

impl Subscriber<'_> {
    /// Whether the subscriber could see the row until it was deleted, as far as the event shows.
    pub(super) fn could_see(&self, row: TypeIndex, event: &RowEvent) -> bool {
        let db = self.db();

        // Only the database can evaluate session variables.
        if db.session.is_some() {
            return false;
        }

        let is_left = db
            .row_filter
            .as_ref()
            .is_none_or(|of_field| holds(&of_field.filter, event));
        let rule = db
            .rules
            .as_ref()
            .map_or(Ok(None), |rules| rules.rule(Subject::Rows(row)));

        is_left && rule.is_ok_and(|rule| rule.is_none_or(|rule| is_met(&rule, event)))
    }
}

fn is_met(rule: &RowRule, event: &RowEvent) -> bool {
    rule.members.is_none() && holds(&rule.filter, event)
}

/// Whether the values of an event are enough to prove that a condition holds. Equal texts are equal
/// values of any type.
fn holds(filter: &Filter, event: &RowEvent) -> bool {
    match filter {
        Filter::All(all) => all.iter().all(|filter| holds(filter, event)),
        Filter::Any(any) => any.iter().any(|filter| holds(filter, event)),
        Filter::Strict(inner) => holds(inner, event),
        Filter::Compare(column, Operator::Eq | Operator::In, wanted) => {
            let [name] = column.path.as_slice() else {
                return false;
            };
            let Some(given) = event.value(name).and_then(key_text) else {
                return false;
            };
            wanted
                .items()
                .iter()
                .any(|wanted| wanted.text().is_some_and(|wanted| wanted == given))
        }
        Filter::Compare(..) | Filter::Not(_) | Filter::Some(..) | Filter::Aggregate(..) => false,
    }
}
