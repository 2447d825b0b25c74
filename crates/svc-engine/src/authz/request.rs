use std::fmt;

use async_graphql::Value;
use indexmap::IndexMap;

use super::Arguments;
use crate::request::{Context, RequestScope};
use svc_core::schema::{Input, OperationKind};
use svc_core::{Error, Result};

/// The operation to be authorized by an [`Authorizer`](super::Authorizer), with its request.
pub struct AuthorizationRequest {
    pub(crate) scope: RequestScope,
    #[doc(hidden)]
    pub operation_type: OperationType,
    #[doc(hidden)]
    pub operation_name: String,
    pub(super) arguments: Arguments,
}

/// The kind of an operation to authorize.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OperationType {
    /// A root field of `Query`.
    Query,
    /// A root field of `Mutation`.
    Mutation,
    /// A root field of `Subscription`.
    Subscription,
    /// A field that `authorize_fields` names.
    Field,
}

impl AuthorizationRequest {
    /// A copy of the request for another authorizer; `None` if it is not shared.
    pub(super) fn copy(&self) -> Option<Self> {
        Some(Self {
            scope: self.scope.share()?,
            operation_type: self.operation_type,
            operation_name: self.operation_name.clone(),
            arguments: self.arguments.clone(),
        })
    }

    /// The same request for an authorizer that has no part in the transaction of an operation with
    /// `@atomic`.
    pub(super) fn outside(mut self) -> Self {
        if self.scope.db.atomic.is_some() {
            self.scope.db = self.scope.db.outside();
        }
        self
    }

    /// The context of the request, as resolvers see it: its user, headers, values and database.
    pub fn context(&self) -> Context<'_> {
        Context::new(&self.scope)
    }

    /// The user of the request; see [`Context::user`].
    #[cfg(feature = "auth")]
    pub fn user(&self) -> Option<&svc_auth::UserContext> {
        self.context().user()
    }

    #[cfg(not(feature = "auth"))]
    #[doc(hidden)]
    pub fn user<T>(&self) -> Option<&T>
    where
        for<'f> Self: svc_core::feature_traits::FeatureAuth<'f>,
    {
        None
    }

    /// The kind of the operation.
    pub fn operation_type(&self) -> OperationType {
        self.operation_type
    }

    /// The name of the root field in the schema, or `Type.field` for a field.
    pub fn operation_name(&self) -> &str {
        &self.operation_name
    }

    /// The coerced arguments by Rust name; absent ones are left out.
    pub fn arguments(&self) -> &IndexMap<String, Value> {
        self.arguments.map()
    }

    /// Converts an argument to its Rust type, by its Rust name; use an `Option` if it may be
    /// absent.
    ///
    /// # Errors
    /// If the value is not of this type; returning the error denies the operation.
    pub fn argument<T: Input>(&self, name: &str) -> Result<T> {
        T::parse(self.arguments.get(name).cloned())
            .map_err(|error| Error::internal(format!("the argument `{name}`: {error}")))
    }
}

impl OperationType {
    /// The name of the kind: `query`, `mutation`, `subscription` or `field`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Mutation => "mutation",
            Self::Subscription => "subscription",
            Self::Field => "field",
        }
    }

    /// The kind of a root field.
    pub(super) const fn of_root_field(kind: OperationKind) -> Self {
        match kind {
            OperationKind::Query => Self::Query,
            OperationKind::Mutation => Self::Mutation,
            OperationKind::Subscription => Self::Subscription,
        }
    }
}

impl fmt::Display for OperationType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for AuthorizationRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments may hold passwords.
        f.debug_struct("AuthorizationRequest")
            .field("operation_type", &self.operation_type)
            .field("operation_name", &self.operation_name)
            .finish_non_exhaustive()
    }
}
