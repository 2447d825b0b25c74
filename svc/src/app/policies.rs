//! The options that say who may do what.

use std::time::Duration;

use super::AppOptions;
use crate::authz::{AuthorizationCacheConfig, AuthorizerOf, IntoAuthorizer, RowDecision, RowPolicy, TriedRule};
use crate::request::Context;
use crate::schema::SvcType;

impl AppOptions {
    /// The authorizer, which is asked about each root field before it runs; see [`Authorizer`](crate::authz::Authorizer).
    ///
    /// ```
    /// use svc::authz::AuthorizationRequest;
    /// use svc::prelude::*;
    ///
    /// let options = AppOptions::new().authorizer(async |request: AuthorizationRequest| {
    ///     request.context().header("x-internal").is_some()
    /// });
    /// ```
    pub fn authorizer<Kind: 'static>(mut self, authorizer: impl IntoAuthorizer<Kind>) -> Self {
        self.authorizer = Some(Box::new(AuthorizerOf::new(authorizer)));
        self
    }

    /// A cache of the decisions of the [`authorizer`](Self::authorizer); see [`AuthorizationCacheConfig`]. Without it every
    /// decision is asked for. Authorizers of single operations are always asked.
    pub fn authorization_cache(mut self, cache: AuthorizationCacheConfig) -> Self {
        self.authorization_cache = Some(cache);
        self
    }

    /// Tries a rule: it is asked about what the [`authorizer`](Self::authorizer) allows, and the log says what it would
    /// deny or filter. Nothing is denied by it, and no request waits for it. `name` is its name in the log.
    ///
    /// It is not asked about operations with an authorizer of their own, nor by checks of fields.
    ///
    /// ```
    /// use svc::authz::OperationType;
    /// use svc::prelude::*;
    ///
    /// let options = AppOptions::new()
    ///     .authorizer(async |request: AuthorizationRequest| request.context().header("x-internal").is_some())
    ///     .dry_run("read-only", async |request: AuthorizationRequest| {
    ///         request.operation_type() != OperationType::Mutation
    ///     });
    /// # drop(options);
    /// ```
    pub fn dry_run<Kind: 'static>(mut self, name: impl Into<String>, rule: impl IntoAuthorizer<Kind>) -> Self {
        self.tried_rules.push(TriedRule { name: name.into(), rule: Box::new(AuthorizerOf::new(rule)) });
        self
    }

    /// Says that anyone may call the operations that nothing guards, so that a service in production does not warn of
    /// them.
    pub fn open_to_everyone(mut self) -> Self {
        self.open_to_everyone = true;
        self
    }

    /// A policy about the rows of `T`: which of them a request may read, wherever rows of this type are read.
    ///
    /// It is asked before rows of `T` are first read for a request, and its [`RowDecision`] holds for the whole request.
    /// Several policies may be given for one type: a row is read where one of them permits it and none denies it. A policy for an interface or a
    /// union binds the rows of all types that belong to it, besides their own.
    ///
    /// ```
    /// use svc::authz::RowDecision;
    /// use svc::db::col;
    /// use svc::prelude::*;
    ///
    /// #[svc_type(sql_source = "v_post")]
    /// struct Post { id: Uuid, title: String }
    ///
    /// let options = AppOptions::new().row_policy::<Post>(|ctx| {
    ///     let published = col("status").eq("published");
    ///     Ok(RowDecision::allow_where(match ctx.header("x-author") {
    ///         Some(author) => published.or(col("author_id").eq(author)),
    ///         None => published,
    ///     }))
    /// });
    /// ```
    ///
    /// An error and a panic deny, and so does a condition that names no column of the view.
    pub fn row_policy<T: SvcType>(
        mut self,
        policy: impl Fn(&Context<'_>) -> crate::Result<RowDecision> + Send + Sync + 'static,
    ) -> Self {
        self.row_policies.push(RowPolicy::new::<T>(None, policy));
        self
    }

    /// A mask of a field of `T`, by its Rust name: where its decision does not permit a row, the field is null, and so it is
    /// to filters, orders, groups and aggregates. It decides like a [`row_policy`](Self::row_policy), about one field.
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// #[svc_type(sql_source = "v_user")]
    /// struct User { id: Uuid, name: String, email: Option<String> }
    ///
    /// let options = AppOptions::new().mask_where::<User>("email", |ctx| {
    ///     Ok(match ctx.header("x-user") {
    ///         Some(user) => RowDecision::allow_where(col("id").eq(user)),
    ///         None => RowDecision::deny(),
    ///     })
    /// });
    /// ```
    ///
    /// The field is one of a struct with a `sql_source` whose rows no other type embeds, and it is an `Option`. Anything
    /// else is an error at the start.
    pub fn mask_where<T: SvcType>(
        mut self,
        field: impl Into<String>,
        policy: impl Fn(&Context<'_>) -> crate::Result<RowDecision> + Send + Sync + 'static,
    ) -> Self {
        self.row_policies.push(RowPolicy::new::<T>(Some(field.into()), policy));
        self
    }

    /// The longest that an authorizer may take; one that takes longer denies. Default 5 seconds.
    pub fn authorization_timeout(mut self, timeout: Duration) -> Self {
        self.config.authorization_timeout = timeout;
        self
    }
}
