//! The root fields of a mutation: what each has done is told with its errors.

use std::collections::HashSet;
use std::iter::repeat;

use super::complete::CompletedValue;
use super::execution_context::ExecutionContext;
use super::field_error::FieldError;
use super::path::Segment;
use super::plan::{Plan, PlanField, RootField};
use crate::postgres::{Effect, Ledger};

/// The mutations of an operation, in their order.
pub(super) struct Mutations<'a> {
    ledger: Option<&'a Ledger>,
    completed: Vec<CompletedValue>,
}

impl<'a> Mutations<'a> {
    pub(super) fn new(cx: &ExecutionContext<'a>) -> Self {
        Self { ledger: cx.context.db().ledger.as_deref(), completed: Vec::new() }
    }

    /// The next one runs.
    pub(super) fn begin(&self) {
        if let Some(ledger) = self.ledger {
            ledger.begin();
        }
    }

    /// It has ended; whether the whole answer becomes null with it.
    pub(super) fn end(&mut self, field: &PlanField, mut value: CompletedValue) -> bool {
        if let Some(ledger) = self.ledger {
            let effect = ledger.end();
            if field.root().is_some() {
                effect.mark(&mut value.errors);
            }
        }
        let is_null = value.bytes.is_err();
        self.completed.push(value);
        is_null
    }

    /// The whole answer becomes null, and what each has answered with it: keeps what each has done, to be told beside the
    /// answer. Those that did not run have done nothing.
    pub(super) fn lose(&self, fields: &[PlanField]) {
        let Some(ledger) = self.ledger else { return };
        let lost = by_key(fields, ledger.ended().into_iter());
        if lost.len() > 1 {
            ledger.lose(lost);
        }
    }

    pub(super) fn into_completed(self) -> Vec<CompletedValue> {
        self.completed
    }
}

/// The effect of each mutation of an operation that is ended at its deadline, by its key in the answer. `is_one` tells
/// that all of them are one statement.
pub(super) fn effects_when_late(ledger: &Ledger, plan: &Plan, is_one: bool) -> Vec<(String, Effect)> {
    let fields = &plan.root.fields;
    let ended = ledger.ended();
    let runs_program = fields.get(ended.len()).and_then(PlanField::root).is_some_and(RootField::needs_code);
    let running = if runs_program { ledger.effect().of_ended_program() } else { ledger.effect() };
    let effects = ended.into_iter().chain([running]);
    if is_one { by_key(fields, effects.chain(repeat(running))) } else { by_key(fields, effects) }
}

/// The mutations among the root fields with their effects; those that have none did not run.
fn by_key(fields: &[PlanField], effects: impl Iterator<Item = Effect>) -> Vec<(String, Effect)> {
    let effects = effects.chain(repeat(Effect::NotDone));
    let mutations = fields.iter().zip(effects).filter(|(field, _)| field.root().is_some());
    mutations.map(|(field, effect)| (field.key.clone(), effect)).collect()
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
