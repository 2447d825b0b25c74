//! The options for authorization.

use std::time::Duration;

use super::AppOptions;
use svc_core::schema::SvcType;
use svc_engine::authz::{
    AuthorizationCacheConfig, AuthorizerOf, IntoAuthorizer, RowDecision, RowPolicy, TriedRule,
};
use svc_engine::request::Context;

impl AppOptions {
    /// Sets the authorizer, which is called for each root field before it runs; see
    /// [`Authorizer`](crate::authz::Authorizer).
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

    /// Sets a cache for the decisions of the [`authorizer`](Self::authorizer); see
    /// [`AuthorizationCacheConfig`]. Without it, the authorizer is called for every decision.
    /// Authorizers of single operations are never cached.
    pub fn authorization_cache(mut self, cache: AuthorizationCacheConfig) -> Self {
        self.authorization_cache = Some(cache);
        self
    }

    /// Adds a dry-run rule: it is evaluated for requests that the [`authorizer`](Self::authorizer)
    /// allows, and the log records the requests that it would deny or filter. It denies nothing,
    /// and no request waits for it. `name` identifies it in the log.
    ///
    /// It is not evaluated for operations that have their own authorizer, nor by checks of fields.
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
    pub fn dry_run<Kind: 'static>(
        mut self,
        name: impl Into<String>,
        rule: impl IntoAuthorizer<Kind>,
    ) -> Self {
        self.tried_rules.push(TriedRule {
            name: name.into(),
            rule: Box::new(AuthorizerOf::new(rule)),
        });
        self
    }

    /// Declares that anyone may call the operations that nothing guards, so that a service in
    /// production does not warn about them.
    pub fn open_to_everyone(mut self) -> Self {
        self.open_to_everyone = true;
        self
    }

    /// Adds a policy for the rows of `T`: it decides which rows a request may read, everywhere that
    /// rows of this type are read.
    ///
    /// It is called before rows of `T` are first read for a request, and its [`RowDecision`]
    /// applies to the whole request. A type may have several policies: a row is readable if one of
    /// them permits it and none denies it. A policy for an interface or a union applies to the rows
    /// of all its member types, in addition to their own policies.
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
    /// An error or a panic denies, and so does a condition on a column that the view does not have.
    pub fn row_policy<T: SvcType>(
        mut self,
        policy: impl Fn(&Context<'_>) -> svc_core::Result<RowDecision> + Send + Sync + 'static,
    ) -> Self {
        self.row_policies.push(RowPolicy::new::<T>(None, policy));
        self
    }

    /// Masks a field of `T`, by its Rust name: where the decision does not permit a row, the field
    /// is null, also for filters, orders, groups and aggregates. It decides like a
    /// [`row_policy`](Self::row_policy), for one field.
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
    /// The field must be an `Option` in a struct with a `sql_source` whose rows no other type
    /// embeds. Anything else is an error at the start.
    pub fn mask_where<T: SvcType>(
        mut self,
        field: impl Into<String>,
        policy: impl Fn(&Context<'_>) -> svc_core::Result<RowDecision> + Send + Sync + 'static,
    ) -> Self {
        self.row_policies
            .push(RowPolicy::new::<T>(Some(field.into()), policy));
        self
    }

    /// Sets the maximum time of an authorizer's decision; after that it denies. Default 5 seconds.
    pub fn authorization_timeout(mut self, timeout: Duration) -> Self {
        self.config.authorization_timeout = timeout;
        self
    }
}
