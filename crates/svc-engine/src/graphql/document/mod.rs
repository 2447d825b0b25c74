//! Valid documents with the plans of their operations, cached for later requests with the same
//! text, or with a text that differs only in literals.

mod cache;
mod diagnostics;
mod document_id;
mod found;
pub(super) mod introspect;
mod literals;
mod one_of;
pub(super) mod persisted;
mod prepare;
mod repeated;
#[cfg(feature = "redis")]
mod shared_persisted;
mod validate;

pub use cache::DocumentCache;
pub use document_id::DocumentId;
pub(super) use found::Found;
pub(super) use literals::{SentLiterals, SentText};

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::Operation;
use apollo_compiler::validation::Valid;
use arc_swap::ArcSwapOption;
use sha2::{Digest as _, Sha256};

use self::literals::Shared;
use super::coerce::{VariableDef, Variables, condition};
use super::error::RequestError;
use super::heap_size;
use super::plan::{Plan, Planner};
use crate::limits::Limits;
use svc_core::ErrorCode;
use svc_core::schema::Model;
use svc_core::trace::OpenSpan;

/// The bytes that a document takes in the cache in addition to the counted ones.
const BASE_WEIGHT: usize = 512;
/// The maximum number of cached plans per document; further combinations of conditions are planned
/// each time.
const MAX_PLANS: usize = 32;
/// The number of documents prepared so far.
static PREPARED: AtomicU64 = AtomicU64::new(0);

/// A valid document with its operations.
pub(crate) struct Document {
    /// Larger for documents that were prepared later.
    number: u64,
    pub(crate) text: Arc<str>,
    pub(crate) executable: Valid<ExecutableDocument>,
    operations: Vec<(Option<String>, OperationInfo)>,
    /// The Boolean variables of `@skip` and `@include`: a plan is valid for one combination of
    /// their values.
    conditions: Vec<String>,
    plans: ArcSwapOption<Vec<(PlanKey, Arc<Plan>)>>,
    /// Locked while plans and their statements are added or removed.
    changing: Mutex<()>,
    /// The hash of the reserialized document, computed on first use.
    digest: OnceLock<[u8; 32]>,
    /// `None` if no document with other literals shares this one.
    shared: Option<Box<Shared>>,
    /// The size of the document in bytes, without its plans.
    weight: usize,
}

/// A plan that its document has already cached or may cache.
pub(crate) enum Planned {
    Kept(Arc<Plan>),
    New(PlanKey, Arc<Plan>),
}

/// The part of an operation that does not depend on the values of its variables.
pub(crate) struct OperationInfo {
    pub(crate) variables: Vec<VariableDef>,
}

/// The operation, and the values of the conditions.
pub(crate) type PlanKey = (Option<String>, Vec<Option<bool>>);

impl Planned {
    pub(crate) fn plan(&self) -> &Arc<Plan> {
        match self {
            Self::Kept(plan) | Self::New(_, plan) => plan,
        }
    }
}

impl Document {
    pub(super) fn new(
        text: Arc<str>,
        executable: Valid<ExecutableDocument>,
        operations: Vec<(Option<String>, OperationInfo)>,
        conditions: Vec<String>,
    ) -> Self {
        let (plans, changing, digest) = (ArcSwapOption::empty(), Mutex::new(()), OnceLock::new());
        let mut document = Self {
            number: PREPARED.fetch_add(1, Ordering::Relaxed),
            text,
            executable,
            operations,
            conditions,
            plans,
            changing,
            digest,
            shared: None,
            weight: 0,
        };

        document.weight = document.own_weight();

        document
    }

    fn with_shared(self, shared: Option<Box<Shared>>) -> Self {
        let mut document = Self { shared, ..self };
        document.weight = document.own_weight();
        document
    }

    /// The operation selected by the request.
    pub(crate) fn operation(
        &self,
        name: Option<&str>,
    ) -> Result<(&Operation, &OperationInfo), RequestError> {
        let failed =
            |message: String| RequestError::new(ErrorCode::OperationResolutionFailure, message);

        // Some clients send an empty `operationName` when they mean none.
        let name = name.filter(|name| !name.is_empty());
        let operation = self
            .executable
            .operations
            .get(name)
            .map_err(|_| match name {
                Some(name) => failed(format!(
                    "the document has no operation named {:?}",
                    svc_core::exact_json::shorten(name)
                )),
                None if self.operations.is_empty() => {
                    failed("the document has no operation".to_owned())
                }
                None => failed(
                    "the document has several operations; name one with `operationName`".to_owned(),
                ),
            })?;

        let found = self
            .operations
            .iter()
            .find(|(known, _)| known.as_deref() == operation.name.as_deref());
        let (_, info) =
            found.ok_or_else(|| failed("the document has no such operation".to_owned()))?;

        Ok((operation, info))
    }

    /// Returns a hash that is equal for documents that differ only in white space and comments, and
    /// in the literals that requests bind.
    pub(crate) fn digest(&self) -> &[u8; 32] {
        self.digest.get_or_init(|| {
            let text = match &self.shared {
                Some(shared) => shared.generalized(&self.executable).to_string(),
                None => self.executable.to_string(),
            };
            Sha256::digest(text).into()
        })
    }

    /// The Boolean variables of `@skip` and `@include`.
    pub(crate) fn conditions(&self) -> &[String] {
        &self.conditions
    }

    /// The plan for an operation under the values of its conditions.
    pub(crate) fn plan(
        &self,
        model: &Model,
        limits: &Limits,
        operation: &Operation,
        variables: &Variables,
    ) -> Result<Planned, RequestError> {
        let name = operation.name.as_deref();
        let conditions: Vec<_> = self
            .conditions
            .iter()
            .map(|name| condition(variables, name))
            .collect();

        let is_known = |key: &PlanKey| key.0.as_deref() == name && key.1 == conditions;
        let plans = self.plans.load();
        if let Some((_, plan)) = plans
            .iter()
            .flat_map(|plans| plans.iter())
            .find(|(known, _)| is_known(known))
        {
            return Ok(Planned::Kept(plan.clone()));
        }

        let _planning = OpenSpan::step("graphql.plan", None);
        let lifted = self.shared.as_ref().map(|shared| &shared.literals);
        let plan =
            Planner::new(model, limits, &self.executable, variables, lifted).plan(operation)?;

        Ok(Planned::New(
            (name.map(str::to_owned), conditions),
            Arc::new(plan),
        ))
    }

    /// The size of the document in bytes, with its plans and their statements.
    pub(crate) fn weight(&self) -> usize {
        let plans = self.plans.load();
        let plans = plans.iter().flat_map(|plans| plans.iter());
        self.weight
            + plans
                .map(|((name, values), plan)| key_weight(name.as_deref(), values) + plan.weight())
                .sum::<usize>()
    }

    /// While the guard is held, no plan or statement is added or removed.
    pub(super) fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Caches a plan if there are not too many; returns whether it did. The caller must hold the
    /// `changing` lock.
    pub(super) fn keep(&self, key: PlanKey, plan: &Arc<Plan>) -> bool {
        let plans = self.plans.load();
        let plans = plans
            .as_ref()
            .map(|plans| plans.as_slice())
            .unwrap_or_default();

        // Another request may have planned the same combination in the meantime.
        let fits = plans.len() < MAX_PLANS && plans.iter().all(|(known, _)| *known != key);
        if fits {
            // Requests read the list without a lock, so it is replaced as a whole.
            self.plans.store(Some(Arc::new(
                plans.iter().cloned().chain([(key, plan.clone())]).collect(),
            )));
        }

        fits
    }

    /// Drops all plans. Running requests keep theirs. The caller must hold the `changing` lock.
    pub(super) fn forget_plans(&self) {
        self.plans.store(None);
    }

    /// Marks the document as counted elsewhere: its weight is that of its plans only.
    pub(super) fn counted_elsewhere(self) -> Self {
        Self { weight: 0, ..self }
    }

    fn own_weight(&self) -> usize {
        let variables = self
            .operations
            .iter()
            .flat_map(|(_, info)| &info.variables)
            .map(VariableDef::weight);

        let conditions = self
            .conditions
            .iter()
            .map(|name| size_of::<String>() + heap_size::text(name));

        BASE_WEIGHT
            + heap_size::text(&self.text)
            + heap_size::document(&self.executable)
            + heap_size::slice::<(Option<String>, OperationInfo)>(self.operations.len())
            + variables.sum::<usize>()
            + conditions.sum::<usize>()
            + self.shared.as_ref().map_or(0, |shared| shared.weight())
    }
}

fn key_weight(name: Option<&str>, values: &[Option<bool>]) -> usize {
    size_of::<(PlanKey, Arc<Plan>)>()
        + name.map_or(0, heap_size::text)
        + heap_size::slice::<Option<bool>>(values.len())
}

impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Document")
            .field("text", &self.text)
            .finish_non_exhaustive()
    }
}
