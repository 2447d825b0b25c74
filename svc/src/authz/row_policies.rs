//! The row policies of an application, and what they decide for a request.

use std::any::TypeId;
use std::collections::HashMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};

use super::RowDecision;
use crate::request::{Context, RequestScope};
use crate::schema::{Model, SvcType, TypeIndex, TypeKind};
use crate::sql::{Filter, RowRule, RowRules, Subject};
use crate::{Error, ErrorCode, Result};

type Decide = Box<dyn Fn(&Context<'_>) -> Result<RowDecision> + Send + Sync>;

/// A policy about the rows of a Rust type.
pub(crate) struct RowPolicy {
    row: TypeId,
    type_name: &'static str,
    decide: Decide,
}

impl RowPolicy {
    pub(crate) fn new<T: SvcType>(
        decide: impl Fn(&Context<'_>) -> Result<RowDecision> + Send + Sync + 'static,
    ) -> Self {
        Self { row: TypeId::of::<T>(), type_name: std::any::type_name::<T>(), decide: Box::new(decide) }
    }
}

/// The row policies of an application.
#[derive(Default)]
pub(crate) struct RowPolicies {
    /// The policies of each type that has some.
    policies: HashMap<TypeIndex, Vec<Decide>>,
    /// The types whose rows a policy binds: those that have one, what implements them, and what they implement.
    governed: HashMap<TypeIndex, Governed>,
}

/// The types whose policies bind the rows of a type.
struct Governed {
    /// The position among the rules of a request.
    at: usize,
    name: String,
    /// The type itself and what it implements.
    own: Vec<TypeIndex>,
    /// For an interface or union: what implements it, with the types whose policies bind it.
    members: Option<Vec<(TypeIndex, Vec<TypeIndex>)>>,
}

impl RowPolicies {
    /// The policies for the types of a schema.
    ///
    /// # Errors
    /// With the Rust type of a policy that has no rows in the schema.
    pub(crate) fn new(model: &Model, all: Vec<RowPolicy>) -> Result<Self, &'static str> {
        let mut policies: HashMap<TypeIndex, Vec<Decide>> = HashMap::new();
        for RowPolicy { row, type_name, decide } in all {
            let index = model.by_rust.get(&row).filter(|index| !model.possible_types(**index).is_empty());
            policies.entry(*index.ok_or(type_name)?).or_default().push(decide);
        }
        let mut known = Self { policies, governed: HashMap::new() };
        for index in 0..model.types.len() {
            if let Some(governed) = known.governed(model, index) {
                known.governed.insert(index, governed);
            }
        }
        Ok(known)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }

    /// Whether a policy binds the rows of a type.
    pub(crate) fn govern(&self, row: TypeIndex) -> bool {
        self.governed.contains_key(&row)
    }

    fn governed(&self, model: &Model, index: TypeIndex) -> Option<Governed> {
        let own = self.governors(model, index);
        let members = match &model.types[index].kind {
            TypeKind::Abstract(abstraction) => {
                // The policies that bind all rows are not repeated for each member.
                let others = |member| self.governors(model, member).into_iter().filter(|other| !own.contains(other));
                let members = abstraction.members.iter().map(|member| (*member, others(*member).collect()));
                Some(members.collect::<Vec<(_, Vec<_>)>>())
            }
            _ => None,
        };
        let is_any = !own.is_empty() || members.iter().flatten().any(|(_, governors)| !governors.is_empty());
        let (at, name) = (self.governed.len(), model.types[index].name.clone());
        is_any.then_some(Governed { at, name, own, members })
    }

    /// The types with policies among a type and those that it belongs to.
    fn governors(&self, model: &Model, index: TypeIndex) -> Vec<TypeIndex> {
        let is_of = |other: &TypeIndex| *other == index || model.possible_types(*other).contains(&index);
        let mut governors: Vec<TypeIndex> = self.policies.keys().copied().filter(is_of).collect();
        governors.sort_unstable();
        governors
    }

    /// The condition that the policies of these types put on a row; `None` for none. Each type has to permit it.
    fn condition(&self, governors: &[TypeIndex], context: &Context<'_>) -> Result<Option<Filter>> {
        let mut all = Vec::new();
        for decides in governors.iter().filter_map(|index| self.policies.get(index)) {
            let decisions = decides.iter().map(|decide| decide(context)).collect::<Result<Vec<_>>>()?;
            all.extend(RowDecision::together(decisions));
        }
        Ok(if all.len() < 2 { all.pop() } else { Some(Filter::All(all)) })
    }

    fn rule(&self, governed: &Governed, context: &Context<'_>) -> Result<Option<RowRule>> {
        let filter = self.condition(&governed.own, context)?;
        let members = governed.members.iter().flatten();
        let members = members.map(|(member, governors)| Ok((*member, self.condition(governors, context)?)));
        let members = members.collect::<Result<Vec<_>>>()?;
        let everything = || Filter::All(Vec::new());
        let members = members.iter().any(|(_, condition)| condition.is_some()).then(|| {
            let condition = |(member, condition): (_, Option<Filter>)| (member, condition.unwrap_or_else(everything));
            members.into_iter().map(condition).collect()
        });
        let is_any = filter.is_some() || members.is_some();
        Ok(is_any.then(|| RowRule { filter: filter.unwrap_or_else(everything), members }))
    }
}

/// The rules of the policies for one request. A policy is asked when rows of its type are first read.
pub(crate) struct RequestRules {
    policies: Arc<RowPolicies>,
    /// `None` denies everything.
    request: Option<RequestScope>,
    rules: Box<[OnceLock<Decided>]>,
}

type Decided = Result<Option<Arc<RowRule>>, Error>;

impl RequestRules {
    pub(crate) fn new(policies: Arc<RowPolicies>, request: Option<RequestScope>) -> Self {
        let rules = policies.governed.iter().map(|_| OnceLock::new()).collect();
        Self { policies, request, rules }
    }

    fn decide(&self, governed: &Governed) -> Decided {
        let denied = |why: String| {
            let message = format!("the rows of `{}` are not allowed", governed.name);
            Error::new(ErrorCode::Forbidden, message).with_source(why)
        };
        let Some(request) = &self.request else { return Err(denied("the request is not shared".to_owned())) };
        let decide = || self.policies.rule(governed, &Context::new(request));
        match std::panic::catch_unwind(AssertUnwindSafe(decide)) {
            Ok(Ok(rule)) => Ok(rule.map(Arc::new)),
            Ok(Err(error)) if error.is_masked() => Err(denied(error.chain())),
            Ok(Err(error)) => Err(error),
            Err(panic) => Err(denied(format!("the row policy panicked: {}", crate::panic::message(&*panic)))),
        }
    }
}

impl RowRules for RequestRules {
    fn rule(&self, subject: Subject) -> Result<Option<Arc<RowRule>>> {
        let Subject::Rows(row) = subject;
        let Some(governed) = self.policies.governed.get(&row) else { return Ok(None) };
        match self.rules[governed.at].get_or_init(|| self.decide(governed)) {
            Ok(rule) => Ok(rule.clone()),
            Err(error) => Err(error.again()),
        }
    }
}

impl fmt::Debug for RequestRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Conditions hold values of the request.
        f.debug_struct("RequestRules").field("types", &self.rules.len()).finish_non_exhaustive()
    }
}
