//! Gated fields: they are decided about before anything of an operation runs, and what is denied is taken out of its plan.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::Value;
use indexmap::IndexMap;

use super::execute::{Engine, Prepared};
use super::plan::{Denial, Denials};
use crate::authz::FieldQuestion;
use crate::request::{Context, RequestScope, Transport};
use crate::schema::Gated;
use crate::{Error, ErrorCode};

/// The decisions about each field, with its arguments; `None` allows.
type Known = HashMap<String, Vec<(IndexMap<String, Value>, Option<Denial>)>>;

impl Engine {
    /// The operation without what the client may not learn.
    ///
    /// Where the functions of the program are passed by, a denial is the whole document's: what comes in their place
    /// does not ask for single fields.
    pub(super) async fn without_denied(&self, prepared: Prepared, scope: &RequestScope) -> Prepared {
        let denials = self.denials(&prepared, scope).await;
        let Some(denial) = denials.values().next() else { return prepared };
        let plan = if prepared.has_statement() || scope.parts().transport == Transport::RustEndpoint {
            prepared.plan.denied(&Denial::new(&refused(denial)))
        } else {
            prepared.plan.without(&denials, &self.app.model, &prepared.variables)
        };
        prepared.with_plan(Arc::new(plan))
    }

    /// Decides about the gated fields that an operation touches, once for each field and its arguments.
    async fn denials(&self, prepared: &Prepared, scope: &RequestScope) -> Denials {
        let mut denials = Denials::new();
        let mut known = Known::new();
        for (gate, field) in prepared.plan.gates(&self.app.model, &prepared.variables) {
            let arguments = match gate.has_arguments() {
                true => field.named_arguments(&self.app.model, &prepared.variables),
                false => Ok(IndexMap::new()),
            };
            let denial = match arguments {
                Ok(arguments) => self.denial(gate.gated, &arguments, scope, &mut known).await,
                Err(error) => Some(Denial::new(&error)),
            };
            denials.extend(denial.map(|denial| (gate, denial)));
        }
        denials
    }

    /// The first denial among the fields that are meant.
    async fn denial(
        &self,
        gated: Gated,
        arguments: &IndexMap<String, Value>,
        scope: &RequestScope,
        known: &mut Known,
    ) -> Option<Denial> {
        for (def, field) in self.app.model.gated_fields(gated) {
            let name = format!("{}.{}", def.name, field.name);
            if field.is_checked() && !matches!(gated, Gated::Field { .. }) {
                return Some(Denial::new(&undecided(&name)));
            }
            let asked = known.entry(name.clone()).or_default();
            let denial = match asked.iter().find(|(other, _)| other == arguments) {
                Some((_, denial)) => denial.clone(),
                None => {
                    let context = Context::new(scope);
                    let (guards, is_authorized) = (field.guards, field.is_authorized);
                    let arguments_asked = Cow::Borrowed(arguments);
                    let question = FieldQuestion { context, name, guards, is_authorized, arguments: arguments_asked };
                    let denial = self.gate.admit_field(&question).await.err().map(|error| Denial::new(&error));
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

/// The error of what may tell a field of which only checks of objects can decide.
fn undecided(name: &str) -> Error {
    let message = format!("this may hold `{name}`, which is checked for each object; select the field itself");
    Error::new(ErrorCode::FieldAuthorizationError, message).with_extension("field", name)
}

/// The error of a whole document of which a field is denied.
fn refused(denial: &Denial) -> Error {
    let denied = denial.error();
    let error = Error::new(ErrorCode::FieldAuthorizationError, denied.message().to_owned());
    match denied.extensions().get("field") {
        Some(field) => error.with_extension("field", field.clone()),
        None => error,
    }
}
