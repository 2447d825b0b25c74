//! The input of the gate.

use std::borrow::Cow;

use async_graphql::Value;
use indexmap::IndexMap;

use crate::repository::Db;
use crate::request::{Context, RequestScope};
use svc_core::error::Denied;
use svc_core::schema::{Guard, OperationKind, RootRules, TypeIndex};
use svc_core::{Error, ErrorCode};

use super::{AuthorizationRequest, OperationType};

/// A root field to authorize, with its request and its operation; implemented by the engine.
pub trait AccessCheck: Sync {
    /// The request.
    fn context(&self) -> Context<'_>;

    /// The request in a form that an authorizer may keep; `None` if the request is not shared, as
    /// nothing needs that.
    fn shared(&self) -> Option<RequestScope>;

    /// The kind of the operation.
    fn kind(&self) -> OperationKind;

    /// The field's name in the schema.
    fn field(&self) -> &str;

    /// The field with its type, such as `Query.users`.
    fn coordinate(&self) -> &str;

    /// The authorization rules declared on the function.
    fn rules(&self) -> RootRules;

    /// Whether the field is resolved without calling its function; the application's authorizer
    /// then decides as well.
    fn is_bypass(&self) -> bool;

    /// Whether a function of the application produces the events of the field.
    fn has_stream(&self) -> bool;

    /// Whether the field writes the rows that the client's filter selects.
    fn selects_written_rows(&self) -> bool;

    /// The type of the view rows that the field returns, if it returns any.
    fn row(&self) -> Option<TypeIndex>;

    /// The coerced arguments by Rust name; absent ones are left out.
    ///
    /// # Errors
    /// A variable that leaves a required value empty.
    fn arguments(&self) -> Result<Vec<(&str, Cow<'_, Value>)>, Error>;
}

impl dyn AccessCheck + '_ {
    /// Builds the request for authorizers, which may keep it.
    pub(super) fn request(&self) -> Result<AuthorizationRequest, Error> {
        let denied = || {
            let message = format!("`{}` is not allowed", self.field());
            let denied =
                Error::new(ErrorCode::Forbidden, message).with_source("the request is not shared");
            denied.denied(Denied::ByAuthorizer)
        };

        let owned = |(name, value): (&str, Cow<'_, Value>)| (name.to_owned(), value.into_owned());
        Ok(AuthorizationRequest {
            scope: self.shared().ok_or_else(denied)?,
            operation_type: OperationType::of_root_field(self.kind()),
            operation_name: self.field().to_owned(),
            arguments: self.arguments()?.into_iter().map(owned).collect(),
        })
    }
}

/// A gated field that may be revealed to a client.
pub(crate) struct FieldAccess<'a> {
    /// The request.
    pub(crate) context: Context<'a>,
    /// `Type.field`, with the names of the schema.
    pub(crate) name: String,
    /// The conditions on the user.
    pub(crate) guards: &'static [Guard],
    /// Whether the authorizer decides about the field.
    pub(crate) is_authorized: bool,
    /// The coerced arguments by Rust name.
    pub(crate) arguments: Cow<'a, IndexMap<String, Value>>,
}

impl FieldAccess<'_> {
    /// Builds the request for authorizers, which decide before the transaction of an operation with
    /// `@atomic` and have no part in it; `None` if it is not shared.
    pub(super) fn request(&self) -> Option<AuthorizationRequest> {
        self.request_with(Db::outside)
    }

    /// Builds the request for the check of an object, which sees the writes of an operation with
    /// `@atomic`. Its events do not depend on their commit. `None` if it is not shared.
    pub(super) fn object_request(&self) -> Option<AuthorizationRequest> {
        self.request_with(Db::checking)
    }

    /// Builds the request; `in_atomic` returns its database in an operation with `@atomic`.
    fn request_with(&self, in_atomic: fn(&Db) -> Db) -> Option<AuthorizationRequest> {
        let Context { request, db } = self.context;
        let is_after_mutation = db.ledger.is_none() && request.db.ledger.is_some();
        let scope = match request.db.atomic {
            Some(_) => request.share_with(&in_atomic(&request.db))?,
            // A query after a mutation has no part in it, and its row policies are decided again.
            None if is_after_mutation => request.share_with(&Db {
                ledger: None,
                rules: db.rules.clone(),
                ..request.db.clone()
            })?,
            None => request.share()?,
        };

        Some(AuthorizationRequest {
            scope,
            operation_type: OperationType::Field,
            operation_name: self.name.clone(),
            arguments: self
                .arguments
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
        })
    }
}
