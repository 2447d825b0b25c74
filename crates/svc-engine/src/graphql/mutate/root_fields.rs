//! The root fields of a mutation: the errors of each field report its effect.

use std::collections::HashSet;
use std::iter::repeat;

use crate::graphql::complete::{CompletedValue, field_bounds};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::{Plan, PlanField, PlanKind, RootField, Selection};
use crate::graphql::response::{FieldError, Segment, mark_effect};
use svc_core::schema::Model;
use svc_postgres::{Effect, EffectLog};
use svc_telemetry::metrics::{error_type, get_metrics};

/// The mutations of an operation, in order.
pub(in crate::graphql) struct Mutations<'a> {
    model: &'a Model,
    ledger: Option<&'a EffectLog>,
    completed: Vec<CompletedValue>,
    /// The last field of the last result that was read after its mutation: its index, and the end of
    /// its value.
    placed: Option<(usize, usize)>,
}

impl<'a> Mutations<'a> {
    pub(in crate::graphql) fn new(cx: &ExecutionContext<'a>) -> Self {
        Self {
            model: cx.model,
            ledger: cx.context.db().ledger.as_deref(),
            completed: Vec::new(),
            placed: None,
        }
    }

    /// Starts the next mutation.
    pub(in crate::graphql) fn begin(&self) {
        if let Some(ledger) = self.ledger {
            ledger.begin();
            ledger.begin_field(self.completed.len());
        }
    }

    /// Ends the current mutation; returns whether it makes `data` null.
    pub(in crate::graphql) fn end(&mut self, field: &PlanField, mut value: CompletedValue) -> bool {
        self.count(field, &value);

        if let Some(ledger) = self.ledger {
            let effect = ledger.end();
            if field.root().is_some() {
                mark_effect(effect, &mut value.errors);
            }
        }

        let is_null = value.bytes.is_err();
        self.completed.push(value);
        self.placed = None;

        is_null
    }

    /// Keeps the effect of the last mutation apart from everything that runs after it.
    pub(in crate::graphql) fn separate(&self) {
        if let Some(ledger) = self.ledger {
            ledger.begin();
        }
    }

    /// The selection of the current mutation's result if a `query` in it can be read. A failure has
    /// none.
    pub(in crate::graphql) fn queried<'f>(
        &self,
        plan: &Plan,
        field: &'f PlanField,
        value: &CompletedValue,
    ) -> Option<&'f Selection> {
        let ledger = self.ledger.filter(|_| plan.has_query)?;
        let bytes = value.bytes.as_ref().ok()?;

        // A null may have replaced the object since its type was recorded.
        let member = ledger.result().filter(|_| bytes.first() == Some(&b'{'))?;

        let selection: &Selection = field.children.of(member)?;
        let is_query = |own: &PlanField| matches!(own.kind, PlanKind::Query);

        selection.fields.iter().any(is_query).then_some(selection)
    }

    /// Puts a value that was read after the last mutation into its result, in place of the null of
    /// the field at `index`, which follows the fields of earlier calls. Returns whether the mutation
    /// makes `data` null.
    pub(in crate::graphql) fn put(&mut self, index: usize, mut read: CompletedValue) -> bool {
        let effect = self.ledger.and_then(|ledger| ledger.ended().pop());
        let Some(last) = self.completed.last_mut() else {
            return false;
        };

        // The mutation has this effect, whatever happens to the read.
        if let Some(effect) = effect {
            mark_effect(effect, &mut read.errors);
        }

        for error in &mut read.errors {
            error.is_after_mutation = true;
        }

        last.errors.append(&mut read.errors);

        match (&mut last.bytes, read.bytes) {
            (Ok(bytes), Ok(value)) => {
                if let Some(bounds) = field_bounds(bytes, self.placed, index) {
                    self.placed = Some((index, bounds.start + value.len()));
                    drop(bytes.splice(bounds, value));
                }
            }
            (bytes, Err(null)) => *bytes = Err(null),
            (Err(_), Ok(_)) => {}
        }

        last.bytes.is_err()
    }

    /// Completes a mutation that does not run, because another one halts the operation.
    pub(in crate::graphql) fn skip(&mut self) {
        self.completed.push(CompletedValue::null());
    }

    /// Completes a mutation that was undone because another one failed, and whose error is the only
    /// one of the response. `error` is the value with the error that it would have alone.
    pub(in crate::graphql) fn undo(&mut self, field: &PlanField, error: &CompletedValue) {
        self.count(field, error);
        if let Some(ledger) = self.ledger {
            ledger.end();
        }
        self.completed.push(CompletedValue::null());
    }

    /// Counts the mutation by its outcome: the type of its result, the type of its failure if the
    /// result is one, or the class of its first error.
    fn count(&self, field: &PlanField, value: &CompletedValue) {
        let Some(metrics) = get_metrics().filter(|_| field.root().is_some()) else {
            return;
        };

        let result = self
            .ledger
            .and_then(EffectLog::take_result)
            .and_then(|ty| self.model.types.get(ty));
        let is_failure = |name: &str| {
            self.model
                .results
                .values()
                .any(|result| result.error.name == name)
        };

        metrics.record_mutation(
            &field.name,
            match (value.errors.first(), result.map(|ty| ty.name.as_str())) {
                (Some(error), _) => Err(error_type(&error.code)),
                (None, Some(name)) if is_failure(name) => Err(name),
                (None, Some(name)) => Ok(name),
                (None, None) => Ok("value"),
            },
        );
    }

    /// `data` becomes null, and with it the result of each root field: records the effect of each
    /// field so that the response can still report it. Fields that did not run have done nothing.
    pub(in crate::graphql) fn lose(&self, fields: &[PlanField]) {
        let Some(ledger) = self.ledger else { return };
        let lost = by_key(fields, ledger.ended().into_iter());

        // The error of a single mutation states its effect already.
        if lost.len() > 1 {
            ledger.lose(lost);
        }
    }

    pub(in crate::graphql) fn into_completed(self) -> Vec<CompletedValue> {
        self.completed
    }
}

/// The effect of each mutation of an operation that is stopped at its deadline, by response key.
/// `is_one` means that all of them are one statement, unless it was not used: under a row filter or
/// a row policy, they run one by one.
pub(in crate::graphql) fn effects_when_late(
    ledger: &EffectLog,
    plan: &Plan,
    is_one: bool,
) -> Vec<(String, Effect)> {
    let fields = &plan.root.fields;
    let ended = ledger.ended();
    if plan.is_atomic && ended.is_empty() {
        return effects_of_whole(ledger, fields);
    }

    // A mutation may wait for others of its session before it begins.
    let is_one = is_one && !ledger.is_one_by_one();
    let has_begun = is_one || ledger.begun() > ended.len();
    let runs_program = fields
        .get(ended.len())
        .and_then(PlanField::root)
        .is_some_and(RootField::needs_code);
    let running = match ledger.effect() {
        // A query after the previous mutation may have made these writes.
        _ if !has_begun => Effect::NotDone,
        effect if runs_program => effect.of_ended_program(),
        effect => effect,
    };

    let effects = ended.into_iter().chain([running]);
    if is_one {
        by_key(fields, effects.chain(repeat(running)))
    } else {
        by_key(fields, effects)
    }
}

/// The effect of each mutation of one transaction. A program that has begun may have done something
/// outside of it.
fn effects_of_whole(ledger: &EffectLog, fields: &[PlanField]) -> Vec<(String, Effect)> {
    let (effect, begun) = (ledger.effect(), ledger.begun());
    let of_field = |(index, field): (usize, &PlanField)| match field.root() {
        Some(root) if root.needs_code() && index < begun => effect.of_ended_program(),
        _ => effect,
    };
    by_key(fields, fields.iter().enumerate().map(of_field))
}

/// The mutations among the root fields with their effects; fields without an effect did not run.
fn by_key(fields: &[PlanField], effects: impl Iterator<Item = Effect>) -> Vec<(String, Effect)> {
    let effects = effects.chain(repeat(Effect::NotDone));
    let mutations = fields
        .iter()
        .zip(effects)
        .filter(|(field, _)| field.root().is_some());
    mutations
        .map(|(field, effect)| (field.key.clone(), effect))
        .collect()
}

/// Moves the first error of each root field before the others, because not all errors are sent.
pub(in crate::graphql) fn one_of_each_first(errors: Vec<FieldError>) -> Vec<FieldError> {
    let mut seen = HashSet::new();
    let root = |error: &FieldError| match error.path.first() {
        Some(Segment::Key(key)) => key.clone(),
        _ => String::new(),
    };

    let (mut first, rest): (Vec<_>, Vec<_>) = errors
        .into_iter()
        .partition(|error| seen.insert(root(error)));
    first.extend(rest);

    first
}
