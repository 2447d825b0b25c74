//! Gated fields: their access is decided before any part of an operation runs, and denied fields
//! are removed from its plan.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::Value;
use indexmap::IndexMap;

use crate::authz::FieldAccess;
use crate::graphql::execute::{Engine, Prepared};
use crate::graphql::plan::{Denial, Denials, Plan, Touch};
use crate::request::{Context, RequestScope, Transport};
use svc_core::error::Denied;
use svc_core::schema::{FieldDef, Gated, TypeIndex};
use svc_core::{Error, ErrorCode};
use svc_telemetry::request_log::gate_asked;

/// The decisions about each field, by its arguments; `None` allows.
type Known = HashMap<String, Vec<(IndexMap<String, Value>, Option<Denial>)>>;

impl Engine {
    /// Whether a plan may contain fields that need their own decision.
    pub(in crate::graphql) fn decides_about(&self, plan: &Plan) -> bool {
        self.decides_fields && plan.root.gates
    }

    /// Removes from the operation the fields that the client may not read.
    ///
    /// If the program's functions are bypassed, a denial applies to the whole document: the code
    /// that replaces them does not check single fields.
    pub(in crate::graphql) async fn drop_denied(
        &self,
        prepared: &mut Prepared,
        scope: &RequestScope,
    ) {
        if let Some(plan) = self.permitted(prepared, scope).await {
            prepared.replace_plan(Arc::new(plan));
        }
    }

    /// The plan without the fields that the client may not read; `None` if the client may read all
    /// of them.
    pub(in crate::graphql) async fn permitted(
        &self,
        prepared: &Prepared,
        scope: &RequestScope,
    ) -> Option<Plan> {
        let denials = self.denials(prepared, scope).await;
        let denial = denials.values().next()?;
        Some(
            if prepared.has_statement() || scope.parts().transport == Transport::RustEndpoint {
                prepared.plan.denied(&Denial::new(&refused(denial)))
            } else {
                prepared.plan.without(
                    &denials,
                    &self.app.model,
                    &prepared.variables,
                    prepared.on_error,
                )
            },
        )
    }

    /// Decides about the gated fields that an operation touches, once for each field and its
    /// arguments.
    async fn denials(&self, prepared: &Prepared, scope: &RequestScope) -> Denials {
        let _asked = gate_asked();
        let mut denials = Denials::new();
        let gates = prepared.plan.gates(&self.app.model, &prepared.variables);
        let mut known = self.decided_at_once(&gates, prepared, scope).await;

        for gate in gates {
            let denial = match gate.arguments(&self.app.model, &prepared.variables) {
                Ok(arguments) => {
                    self.denial(gate.gated(), &arguments, scope, &mut known)
                        .await
                }
                // Arguments that cannot be coerced must not let the field pass undecided.
                Err(error) => Some(Denial::new(&error)),
            };
            denials.extend(denial.map(|denial| (gate.touched, denial)));
        }

        denials
    }

    /// The decisions of an authorizer that decides about all gated fields in one call.
    async fn decided_at_once(
        &self,
        gates: &[Touch<'_>],
        prepared: &Prepared,
        scope: &RequestScope,
    ) -> Known {
        let mut questions: Vec<FieldAccess<'_>> = Vec::new();
        if !self.gate.is_guarded() {
            return Known::new();
        }

        for gate in gates {
            let Ok(arguments) = gate.arguments(&self.app.model, &prepared.variables) else {
                continue;
            };

            for (def, field) in self.app.model.gated_fields(gate.gated()) {
                let question = question(scope, &def.name, field, Cow::Owned(arguments.clone()));
                if !questions.iter().any(|known| {
                    known.name == question.name && known.arguments == question.arguments
                }) {
                    questions.push(question);
                }
            }
        }

        // Without an answer for all of them, `denial` decides about each field later.
        let decided = self.gate.admit_fields(&questions).await.unwrap_or_default();
        let mut known = Known::new();
        for (question, decided) in questions.into_iter().zip(decided) {
            let denial = decided.err().map(|error| Denial::new(&error));
            known
                .entry(question.name)
                .or_default()
                .push((question.arguments.into_owned(), denial));
        }

        known
    }

    /// Whether the client may read the keys of rows of a type if the document does not select them.
    pub(in crate::graphql) async fn tells_keys(
        &self,
        row: TypeIndex,
        scope: &RequestScope,
    ) -> bool {
        let gated = if self.decides_fields {
            self.app.model.gate_of_keys(row)
        } else {
            None
        };

        match gated {
            Some(gated) => self
                .denial(gated, &IndexMap::new(), scope, &mut Known::new())
                .await
                .is_none(),
            None => true,
        }
    }

    /// The first denial among the fields of `gated`.
    async fn denial(
        &self,
        gated: Gated,
        arguments: &IndexMap<String, Value>,
        scope: &RequestScope,
        known: &mut Known,
    ) -> Option<Denial> {
        for (def, field) in self.app.model.gated_fields(gated) {
            let name = format!("{}.{}", def.name, field.name);

            // Only a selected field is checked for each object; anything else that reveals its
            // value, such as a filter, has no object to check.
            let is_own = match gated {
                Gated::Field { .. } => true,
                Gated::Document { of, rust, .. } => {
                    field.rust == rust && def.name == self.app.model.types[of].name
                }
                Gated::AllOf(_) | Gated::Everything => false,
            };
            if field.is_checked() && !is_own {
                return Some(Denial::new(&undecided(&name)));
            }

            let asked = known.entry(name.clone()).or_default();
            let denial = match asked.iter().find(|(other, _)| other == arguments) {
                Some((_, denial)) => denial.clone(),
                None => {
                    let question = question(scope, &def.name, field, Cow::Borrowed(arguments));
                    let denial = self
                        .gate
                        .admit_field(&question)
                        .await
                        .err()
                        .map(|error| Denial::new(&error));
                    asked.push((arguments.clone(), denial.clone()));
                    denial
                }
            };

            if denial.is_some() {
                return denial;
            }
        }

        None
    }
}

fn question<'a>(
    scope: &'a RequestScope,
    owner: &str,
    field: &FieldDef,
    arguments: Cow<'a, IndexMap<String, Value>>,
) -> FieldAccess<'a> {
    let name = format!("{owner}.{}", field.name);
    let (guards, is_authorized) = (field.guards, field.is_authorized);
    FieldAccess {
        context: Context::new(scope),
        name,
        guards,
        is_authorized,
        arguments,
    }
}

/// The error for a part of an operation that may reveal a field whose access only checks of objects
/// can decide.
fn undecided(name: &str) -> Error {
    let message = format!(
        "this may hold `{name}`, which is checked for each object; select the field itself"
    );
    Error::new(ErrorCode::FieldAuthorizationError, message)
        .with_extension("field", name)
        .denied(Denied::Field)
}

/// The error for a whole document with a denied field.
fn refused(denial: &Denial) -> Error {
    let denied = denial.error();
    let error = Error::new(
        ErrorCode::FieldAuthorizationError,
        denied.message().to_owned(),
    )
    .denied(Denied::Field);

    match denied.extensions().get("field") {
        Some(field) => error.with_extension("field", field.clone()),
        None => error,
    }
}
