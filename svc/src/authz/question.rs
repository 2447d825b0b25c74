//! The question that the gate is asked.

use std::borrow::Cow;

use async_graphql::Value;
use indexmap::IndexMap;

use crate::error::Denied;
use crate::request::{Context, RequestScope};
use crate::schema::{Guard, OperationKind, RootRules, TypeIndex};
use crate::{Error, ErrorCode};

use super::{AuthorizationRequest, OperationType};

/// A root field that wants to run, with its request and its operation; the engine implements it.
pub(crate) trait Question: Sync {
    /// The request.
    fn context(&self) -> Context<'_>;

    /// The request, as an authorizer may keep it; `None` where no request is shared, as nothing asked for it.
    fn shared(&self) -> Option<RequestScope>;

    /// The kind of the operation.
    fn kind(&self) -> OperationKind;

    /// The field's name in the schema.
    fn field(&self) -> &str;

    /// The field with its type, such as `Query.users`.
    fn coordinate(&self) -> &str;

    /// The rules that stand at the function.
    fn rules(&self) -> RootRules;

    /// Whether the field is answered on a way that passes the function by, where the application's authorizer is asked
    /// as well.
    fn is_bypass(&self) -> bool;

    /// Whether a function of the program makes the events that the field answers with.
    fn has_stream(&self) -> bool;

    /// The type of the rows of a view that the field answers with, if it does.
    fn row(&self) -> Option<TypeIndex>;

    /// The coerced arguments under their Rust names; those that are absent are left out.
    ///
    /// # Errors
    /// A variable that leaves a required place empty.
    fn arguments(&self) -> Result<Vec<(&str, Cow<'_, Value>)>, Error>;
}

impl dyn Question + '_ {
    /// The request as authorizers get it, who may keep it.
    pub(super) fn request(&self) -> Result<AuthorizationRequest, Error> {
        let denied = || {
            let message = format!("`{}` is not allowed", self.field());
            let denied = Error::new(ErrorCode::Forbidden, message).with_source("the request is not shared");
            denied.denied(Denied::ByAuthorizer)
        };
        let owned = |(name, value): (&str, Cow<'_, Value>)| (name.to_owned(), value.into_owned());
        Ok(AuthorizationRequest {
            scope: self.shared().ok_or_else(denied)?,
            operation_type: self.kind().into(),
            operation_name: self.field().to_owned(),
            arguments: self.arguments()?.into_iter().map(owned).collect(),
        })
    }
}

/// A gated field that a client may learn of.
pub(crate) struct FieldQuestion<'a> {
    /// The request.
    pub(crate) context: Context<'a>,
    /// `Type.field` in the schema's names.
    pub(crate) name: String,
    /// The conditions on the user.
    pub(crate) guards: &'static [Guard],
    /// Whether the authorizer decides.
    pub(crate) is_authorized: bool,
    /// The coerced arguments under their Rust names.
    pub(crate) arguments: Cow<'a, IndexMap<String, Value>>,
}

impl FieldQuestion<'_> {
    /// The request as authorizers get it; `None` where it is not shared.
    pub(super) fn request(&self) -> Option<AuthorizationRequest> {
        Some(AuthorizationRequest {
            scope: self.context.request.share()?,
            operation_type: OperationType::Field,
            operation_name: self.name.clone(),
            arguments: self.arguments.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        })
    }
}
