//! Decides from a change event alone whether the subscriber may not see the row.
//!
//! Such an event is not queued for the subscriber: writes of other users must neither displace its
//! own events, nor reveal that something was written. If the event does not contain enough, the
//! database is queried.

use std::sync::Arc;

use uuid::Uuid;

use super::event::Subscriber;
use crate::authz::{RequestRules, RowPolicies};
use crate::events::RowEvent;
use crate::request::ScopeSeed;
use crate::shared_state::SharedState;
use crate::sql::{Column, Filter, RowFilter, RowRules as _, Subject};
use svc_core::scalar::sql_value::SqlValue;
use svc_core::schema::{Operator, TypeIndex, key_text};
use svc_postgres::ColumnType;

/// The row rules of a subscription: the policies, which are evaluated again for each event, and the
/// row filter of its admission.
pub(super) struct EventRules {
    app: Arc<SharedState>,
    request: ScopeSeed,
    policies: Option<Arc<RowPolicies>>,
    row_filter: Option<Arc<RowFilter>>,
}

impl EventRules {
    /// Returns the rules of a subscriber, or `None` if all rows may be seen or the request is not
    /// shared.
    pub(super) fn of(subscriber: &Subscriber<'_>) -> Option<Box<Self>> {
        let (policies, row_filter) = (
            subscriber.engine.row_policies.clone(),
            subscriber.admission.row_filter().cloned(),
        );
        if policies.is_none() && row_filter.is_none() {
            return None;
        }

        let (app, request) = (subscriber.engine.app.clone(), subscriber.scope.seed()?);
        Some(Box::new(Self {
            app,
            request,
            policies,
            row_filter,
        }))
    }

    /// Whether the event shows that the subscriber may not see its row.
    pub(super) fn deny(&self, row: TypeIndex, event: &RowEvent) -> bool {
        let is_denied = |filter: &Filter| self.verdict(row, filter, event) == Some(false);
        if self
            .row_filter
            .as_ref()
            .is_some_and(|of_field| is_denied(&of_field.filter))
        {
            return true;
        }

        let Some(policies) = &self.policies else {
            return false;
        };

        let rules = RequestRules::new(policies.clone(), Some(self.request.clone()));

        // A policy that cannot decide is an error in the response, which the subscriber must
        // receive.
        rules
            .rule(Subject::Rows(row))
            .is_ok_and(|rule| rule.is_some_and(|rule| is_denied(&rule.filter)))
    }

    /// Whether a condition holds for the row of an event; `None` if the event does not contain
    /// enough to decide.
    fn verdict(&self, row: TypeIndex, filter: &Filter, event: &RowEvent) -> Option<bool> {
        let verdict = |filter: &Filter| self.verdict(row, filter, event);
        match filter {
            Filter::All(all) => all_of(all.iter().map(verdict)),
            // By De Morgan, so that an undecided condition counts only if no other one holds.
            Filter::Any(any) => {
                all_of(any.iter().map(|filter| verdict(filter).map(|holds| !holds)))
                    .map(|none| !none)
            }
            Filter::Not(inner) => verdict(inner).map(|holds| !holds),
            Filter::Strict(inner) => verdict(inner),
            Filter::Compare(column, operator, wanted) => {
                self.compare(row, column, *operator, wanted, event)
            }
            Filter::Some(..) | Filter::Aggregate(..) => None,
        }
    }

    fn compare(
        &self,
        row: TypeIndex,
        column: &Column,
        operator: Operator,
        wanted: &SqlValue,
        event: &RowEvent,
    ) -> Option<bool> {
        let ([name], None) = (column.path.as_slice(), &column.call) else {
            return None;
        };

        let given = event.value(name).and_then(key_text)?;
        let ty = self
            .app
            .database
            .known_column(self.app.model.source(row)?, name)?;
        let is_same = |wanted: &SqlValue| is_same(&ty, &given, &wanted.text()?);

        // No item equals the value if it differs from each of them.
        let is_any = all_of(
            wanted
                .items()
                .iter()
                .map(|item| is_same(item).map(|same| !same)),
        )
        .map(|none| !none);

        match operator {
            Operator::Eq | Operator::In => is_any,
            Operator::Ne | Operator::NotIn => is_any.map(|same| !same),
            _ => None,
        }
    }
}

/// Whether all hold: false if one does not, and otherwise `None` if one is undecided.
fn all_of(verdicts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut all = Some(true);
    for verdict in verdicts {
        match verdict {
            Some(true) => {}
            Some(false) => return Some(false),
            None => all = None,
        }
    }

    all
}

/// Whether two texts are the same value of a type; `None` if only PostgreSQL can decide.
fn is_same(ty: &ColumnType, one: &str, other: &str) -> Option<bool> {
    if one == other {
        return Some(true);
    }

    match ty.name.as_str() {
        "int2" | "int4" | "int8" => Some(one.parse::<i64>().ok()? == other.parse::<i64>().ok()?),
        "uuid" => Some(Uuid::try_parse(one).ok()? == Uuid::try_parse(other).ok()?),
        "bool" => Some(one.parse::<bool>().ok()? == other.parse::<bool>().ok()?),
        // Under a nondeterministic collation, different texts may be equal.
        "text" | "varchar" if ty.is_exact => Some(false),
        _ => None,
    }
}
