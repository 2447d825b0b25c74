//! Root fields as the gate sees them.

use std::borrow::Cow;

use async_graphql::Value;

use crate::authz::AccessCheck;
use crate::graphql::context::ExecutionContext;
use crate::graphql::execute::Engine;
use crate::graphql::plan::{Admission, ArgPlan, PlanField, RootField};
use crate::request::{Context, RequestScope, Transport};
use svc_core::Error;
use svc_core::schema::{OperationKind, RootRules, TypeIndex};
use svc_telemetry::request_log::gate_asked;

/// A root field that requests admission.
struct RootFieldAccess<'a> {
    cx: &'a ExecutionContext<'a>,
    field: &'a PlanField,
    /// Whether the program's own statement may execute the operation.
    has_statement: bool,
}

impl Engine {
    /// Requests the admission of one root field by the gate. `has_statement` is whether the
    /// program's own statement may execute it.
    ///
    /// # Errors
    /// The denial, as the client may see it.
    pub(in crate::graphql) async fn admit<'f>(
        &self,
        cx: &ExecutionContext<'_>,
        field: &'f PlanField,
        has_statement: bool,
    ) -> Result<Admission<'f>, Error> {
        // A gated field that this one would reveal is already denied.
        if let Some(denial) = &field.denial {
            return Err(denial.error());
        }

        let _asked = gate_asked();
        self.gate
            .admit(
                field,
                &RootFieldAccess {
                    cx,
                    field,
                    has_statement,
                },
            )
            .await
    }
}

impl AccessCheck for RootFieldAccess<'_> {
    fn context(&self) -> Context<'_> {
        self.cx.context
    }

    fn shared(&self) -> Option<RequestScope> {
        let Context { request, db } = self.cx.context;
        request.share_with(db)
    }

    fn kind(&self) -> OperationKind {
        self.cx.operation.kind
    }

    fn field(&self) -> &str {
        &self.field.name
    }

    fn coordinate(&self) -> &str {
        self.field.coordinate.as_str()
    }

    fn rules(&self) -> RootRules {
        self.field.rules()
    }

    fn is_bypass(&self) -> bool {
        self.has_statement || self.cx.context.transport() == Transport::RustEndpoint
    }

    fn has_stream(&self) -> bool {
        self.field.root().is_some_and(RootField::has_stream)
    }

    fn selects_written_rows(&self) -> bool {
        self.field
            .root()
            .is_some_and(|root| root.filtered_rows().is_some())
    }

    fn row(&self) -> Option<TypeIndex> {
        self.field.root()?.row()
    }

    fn arguments(&self) -> Result<Vec<(&str, Cow<'_, Value>)>, Error> {
        let named = |arg| named(self.cx, arg);
        self.field
            .args
            .iter()
            .filter_map(|arg| named(arg).transpose())
            .collect()
    }
}

fn named<'a>(
    cx: &ExecutionContext<'a>,
    arg: &'a ArgPlan,
) -> Result<Option<(&'a str, Cow<'a, Value>)>, Error> {
    Ok(cx.argument(arg)?.map(|value| (arg.rust.as_str(), value)))
}
