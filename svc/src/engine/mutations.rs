//! The root fields of a mutation: what each has done is told with its errors.

use std::collections::HashSet;

use super::complete::CompletedValue;
use super::execution_context::ExecutionContext;
use super::field_error::FieldError;
use super::path::Segment;
use super::plan::{PlanField, PlanKind};
use crate::postgres::{Effect, Ledger};

/// The mutations of an operation, in their order.
pub(super) struct Mutations<'a> {
    ledger: Option<&'a Ledger>,
    completed: Vec<CompletedValue>,
    effects: Vec<Effect>,
}

impl<'a> Mutations<'a> {
    pub(super) fn new(cx: &ExecutionContext<'a>) -> Self {
        let ledger = cx.context.db().ledger.as_deref();
        Self { ledger, completed: Vec::new(), effects: Vec::new() }
    }

    /// The next one runs.
    pub(super) fn begin(&self) {
        if let Some(ledger) = self.ledger {
            ledger.begin();
        }
    }

    /// It has ended; whether the whole answer becomes null with it.
    pub(super) fn end(&mut self, field: &PlanField, mut value: CompletedValue) -> bool {
        let effect = self.ledger.map_or(Effect::NotDone, Ledger::effect);
        if self.ledger.is_some() && matches!(field.kind, PlanKind::Root(..)) {
            effect.mark(&mut value.errors);
        }
        let is_null = value.bytes.is_err();
        self.completed.push(value);
        self.effects.push(effect);
        is_null
    }

    /// The whole answer becomes null, and what each has answered with it: keeps what each has done, to be told beside the
    /// answer. Those that did not run have done nothing.
    pub(super) fn lose(&self, fields: &[PlanField]) {
        let effects = self.effects.iter().copied().chain(std::iter::repeat(Effect::NotDone));
        let mutations = fields.iter().zip(effects).filter(|(field, _)| matches!(field.kind, PlanKind::Root(..)));
        let lost: Vec<_> = mutations.map(|(field, effect)| (field.key.clone(), effect)).collect();
        if let (Some(ledger), true) = (self.ledger, lost.len() > 1) {
            ledger.lose(lost);
        }
    }

    pub(super) fn into_completed(self) -> Vec<CompletedValue> {
        self.completed
    }
}

/// The errors with the first of each root field before the others, as not all are sent.
pub(super) fn one_of_each_first(errors: Vec<FieldError>) -> Vec<FieldError> {
    let mut seen = HashSet::new();
    let root = |error: &FieldError| match error.path.first() {
        Some(Segment::Key(key)) => key.clone(),
        _ => String::new(),
    };
    let (mut first, rest): (Vec<_>, Vec<_>) = errors.into_iter().partition(|error| seen.insert(root(error)));
    first.extend(rest);
    first
}
