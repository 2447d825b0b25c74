//! The seam for policies.

use futures_util::future::BoxFuture;
use sha2::{Digest as _, Sha256};

use crate::Error;
use crate::engine::{Context, ExecutionContext, PlanField};
use crate::schema::{GatedField, OperationKind};
use crate::sql::Filter;

/// Decides which root fields may run.
pub(crate) trait Policy: Send + Sync + 'static {
    /// Decides about one root field. It is asked once for each field of a request.
    ///
    /// # Errors
    /// A client error denies as it is. Any other denies without its words.
    fn decide<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Result<Decision, Error>>;
}

/// The decision of a policy about a root field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Decision {
    Allow,
    /// The field may run, and read only rows that match.
    AllowWhere(Filter),
    Deny,
}

/// A root field that wants to run, with its request and its operation.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(super) cx: &'a ExecutionContext<'a>,
    pub(super) field: &'a PlanField,
}

impl<'a> Question<'a> {
    /// The request.
    pub(crate) fn context(&self) -> Context<'a> {
        self.cx.context
    }

    /// Whether it is a query or a mutation.
    pub(crate) fn kind(&self) -> OperationKind {
        self.cx.operation.kind
    }

    /// The name of the operation in the document.
    pub(crate) fn operation_name(&self) -> Option<&'a str> {
        self.cx.operation.name()
    }

    /// The SHA-256 of the document's text.
    pub(crate) fn document_hash(&self) -> [u8; 32] {
        Sha256::digest(&*self.cx.operation.document.text).into()
    }

    /// The field's name in the schema.
    pub(crate) fn field(&self) -> &'a str {
        &self.field.name
    }

    /// The coerced arguments under their Rust names; those that are absent are left out.
    ///
    /// # Errors
    /// When a variable leaves a required place empty.
    pub(crate) fn arguments(&self) -> Result<Vec<(&'a str, async_graphql::Value)>, Error> {
        let named = |arg: &'a crate::engine::ArgPlan| {
            Ok(self.cx.argument(arg)?.map(|value| (arg.rust.as_str(), value.into_owned())))
        };
        self.field.args.iter().filter_map(|arg| named(arg).transpose()).collect()
    }

    /// The gated fields whose values the field can tell, as `Type.field` in Rust's names.
    pub(crate) fn gated_fields(&self) -> Vec<String> {
        let fields = self.field.gated_fields(self.cx.model, self.cx.variables);
        let shown = |field: GatedField| format!("{}.{}", self.cx.model.types[field.object].name, field.rust);
        fields.into_iter().map(shown).collect()
    }
}
