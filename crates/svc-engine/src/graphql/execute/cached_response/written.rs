//! The types that a mutation writes. Cached responses that were read from them are invalidated when
//! it ends, regardless of its outcome.

use std::sync::Arc;

use super::super::{Engine, Prepared};
use crate::graphql::nested_rows;
use crate::graphql::plan::{Plan, PlanField};
use crate::request::RequestScope;
use crate::response_cache::Responses;
use svc_core::schema::{FieldKind, Model, OperationKind, TypeIndex};
use svc_postgres::{Effect, EffectLog};

/// A running mutation, and the types that it writes. Reads that start after it has ended never get
/// a response from before.
pub(in crate::graphql) struct Written {
    responses: Arc<Responses>,
    ledger: Arc<EffectLog>,
    plan: Arc<Plan>,
    /// The types that each root field writes.
    types: Vec<Vec<TypeIndex>>,
    /// Whether the mutation has returned a response, and was not interrupted.
    has_answered: bool,
}

impl Engine {
    /// Records a mutation that is about to run. Returns `None` for other operations, and without a
    /// response cache.
    pub(in crate::graphql) fn written(
        &self,
        prepared: &Prepared,
        scope: &RequestScope,
    ) -> Option<Box<Written>> {
        let responses = self.app.responses.as_ref()?;
        if prepared.plan.kind != OperationKind::Mutation {
            return None;
        }

        let plan = prepared.plan.clone();
        let types = plan
            .root
            .fields
            .iter()
            .map(|field| written_by(&self.app.model, &plan, field))
            .collect::<Vec<_>>();

        // The commit of an operation with `@atomic` may outlast its request.
        if let Some(atomic) = &scope.db.atomic {
            atomic.will_write(types.concat());
        }

        let (responses, ledger) = (responses.clone(), scope.db.ledger.clone()?);

        Some(Box::new(Written {
            responses,
            ledger,
            plan,
            types,
            has_answered: false,
        }))
    }

    /// Invalidates the responses with rows of the types that one mutation has written, while its
    /// operation goes on.
    pub(in crate::graphql) fn invalidate_after(&self, prepared: &Prepared, mutation: &PlanField) {
        if let Some(responses) = &self.app.responses {
            responses.invalidate(&written_by(&self.app.model, &prepared.plan, mutation));
        }
    }
}

impl Written {
    /// Records that the mutation has returned a response.
    pub(in crate::graphql) fn answered(mut self) {
        self.has_answered = true;
    }

    /// The effect of each root field.
    fn effects(&self) -> impl Iterator<Item = Effect> {
        let ended = self.ledger.ended();
        let running = match self
            .plan
            .root
            .fields
            .get(ended.len())
            .and_then(PlanField::root)
        {
            // A null at the root has ended the operation before this field.
            Some(_) if self.has_answered => Effect::NotDone,
            Some(root) if root.needs_code() => self.ledger.effect().of_ended_program(),
            _ => self.ledger.effect(),
        };

        // One statement may execute the whole mutation, and including the fields after the running
        // one does no harm.
        ended.into_iter().chain(std::iter::repeat(running))
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        // A cancelled request gets here as well, and its commit may already have been sent.
        let done = self
            .effects()
            .zip(&self.types)
            .filter(|(effect, _)| *effect != Effect::NotDone);
        let (mut types, mut is_unseen) = (Vec::new(), false);
        for (effect, written) in done {
            types.extend_from_slice(written);
            is_unseen |= effect == Effect::Unknown;
        }

        self.responses.invalidate(&types);

        // Its statement may end after its request.
        if is_unseen {
            self.responses.invalidate_later(types);
        }
    }
}

/// The row types that a root field writes: the types that it names, acts on and returns, and the
/// types nested in its input objects.
fn written_by(model: &Model, plan: &Plan, field: &PlanField) -> Vec<TypeIndex> {
    let Some(root) = field.root() else {
        return Vec::new();
    };

    let known = |row: fn() -> std::any::TypeId| model.by_rust.get(&row()).copied();
    let named = root
        .rules()
        .touches
        .iter()
        .copied()
        .chain(root.acts_on().map(|acted| acted.row))
        .filter_map(known);

    let def = model.field(&plan.root.type_name, &field.name);
    let answered = def.map(|field| field.ty.named());
    let nested = def.into_iter().flat_map(|field| nested_rows(model, field));

    named
        .chain(root.written_rows())
        .chain(nested)
        .chain(answered.into_iter().flat_map(|ty| entities(model, ty)))
        .collect()
}

/// The row types that a value of a type consists of: the type itself, or the types that the members
/// of a result hold.
fn entities(model: &Model, ty: TypeIndex) -> Vec<TypeIndex> {
    let has_rows = |index: &TypeIndex| model.source(*index).is_some();
    let members = model.possible_types(ty).iter().copied().chain([ty]);
    let fields = members
        .clone()
        .filter_map(|member| model.object(member))
        .flat_map(|object| object.fields.values());
    let held = fields
        .filter(|field| matches!(field.kind, FieldKind::Stored { .. }))
        .map(|field| field.ty.named());

    members.chain(held).filter(has_rows).collect()
}
