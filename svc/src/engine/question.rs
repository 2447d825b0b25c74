//! Root fields as the gate sees them.

use async_graphql::Value;
use sha2::{Digest as _, Sha256};

use super::execute::Engine;
use super::execution_context::ExecutionContext;
use super::plan::{Admission, ArgPlan, PlanField};
use crate::Error;
use crate::authz::Question;
use crate::request::Context;
use crate::schema::{GatedField, OperationKind, TypeIndex};

/// A root field that wants to run.
struct RootQuestion<'a> {
    cx: &'a ExecutionContext<'a>,
    field: &'a PlanField,
}

impl Engine {
    /// Asks the gate for one root field.
    ///
    /// # Errors
    /// The denial, as the client may see it.
    pub(super) async fn admit<'f>(
        &self,
        cx: &ExecutionContext<'_>,
        field: &'f PlanField,
    ) -> Result<Admission<'f>, Error> {
        self.gate.admit(field, &RootQuestion { cx, field }).await
    }
}

impl Question for RootQuestion<'_> {
    fn context(&self) -> Context<'_> {
        self.cx.context
    }

    fn kind(&self) -> OperationKind {
        self.cx.operation.kind
    }

    fn operation_name(&self) -> Option<&str> {
        self.cx.operation.name()
    }

    fn document_hash(&self) -> [u8; 32] {
        Sha256::digest(&*self.cx.operation.document.text).into()
    }

    fn field(&self) -> &str {
        &self.field.name
    }

    fn coordinate(&self) -> &str {
        self.field.coordinate.as_str()
    }

    fn row(&self) -> Option<TypeIndex> {
        self.field.root()?.row()
    }

    fn arguments(&self) -> Result<Vec<(&str, Value)>, Error> {
        let named = |arg| named(self.cx, arg);
        self.field.args.iter().filter_map(|arg| named(arg).transpose()).collect()
    }

    fn gated_fields(&self) -> Vec<String> {
        let fields = self.field.gated_fields(self.cx.model, self.cx.variables);
        let shown = |field: GatedField| format!("{}.{}", self.cx.model.types[field.object].name, field.rust);
        fields.into_iter().map(shown).collect()
    }
}

fn named<'a>(cx: &ExecutionContext<'a>, arg: &'a ArgPlan) -> Result<Option<(&'a str, Value)>, Error> {
    Ok(cx.argument(arg)?.map(|value| (arg.rust.as_str(), value.into_owned())))
}
