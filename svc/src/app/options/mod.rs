//! The options of an application.

#[cfg(feature = "auth")]
mod authentication;
mod policies;
mod rate_limits;
#[cfg(feature = "redis")]
mod redis;
mod schema;

use std::any::Any;
use std::borrow::Cow;
use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use super::SvcConfig;
use crate::health::HealthCheck;
use crate::rate_limit::RateLimiting;
pub(super) use rate_limits::{has_unlimited, note_rate_limits, warn_of_unlimited};
use svc_core::schema::{KeyFn, RootFieldMeta};
use svc_core::settings::{ConfigError, MAX_TIMEOUT};
use svc_engine::Constraint;
use svc_engine::authz::{
    AuthorizationCacheConfig, CachedAuthorizer, DynAuthorizer, RowPolicy, TriedRule,
    TryingAuthorizer,
};
use svc_engine::events::EventSource;
use svc_engine::graphql::{Hooks, Operation, OperationRegistry, ResponseCache};
use svc_engine::limits::Limits;
use svc_engine::mutation_result::Constraints;
use svc_engine::repository::SqlText;
use svc_engine::request::{
    Context, ContextValues, RequestContext, RequestDataMakers, SessionVariables,
};
use svc_engine::shared_state::DataMap;

/// The parts of an application; passed to [`create_svc_app`](crate::create_svc_app).
#[derive(Default)]
#[must_use = "give the options to `create_svc_app`"]
pub struct AppOptions {
    pub(super) config: SvcConfig,
    /// Whether the settings were read from the environment, before any was changed.
    pub(super) reads_environment: bool,
    /// Whether nothing is logged about the environment: in tests, it is the test's environment.
    pub(super) is_quiet: bool,
    pub(super) types: Vec<KeyFn>,
    pub(super) nodes: Vec<KeyFn>,
    pub(super) internal_types: Vec<KeyFn>,
    pub(super) operations: Vec<&'static RootFieldMeta>,
    pub(super) data: DataMap,
    pub(super) request_data: RequestDataMakers,
    pub(super) authorizer: Option<Box<dyn DynAuthorizer>>,
    pub(super) authorization_cache: Option<AuthorizationCacheConfig>,
    pub(super) tried_rules: Vec<TriedRule>,
    pub(super) row_policies: Vec<RowPolicy>,
    pub(super) open_to_everyone: bool,
    pub(super) hooks: Hooks,
    pub(super) setup: Option<Cow<'static, str>>,
    pub(super) session_variables: SessionVariables,
    pub(super) constraints: Constraints,
    pub(super) context_values: ContextValues,
    pub(super) registered: Vec<Operation>,
    pub(super) registry: OperationRegistry,
    pub(super) response_cache: Option<ResponseCache>,
    pub(super) rate_limiting: Option<RateLimiting>,
    pub(super) event_source: Option<Box<dyn EventSource>>,
    pub(super) event_channels: Vec<String>,
    pub(super) health: Option<HealthCheck>,
    #[cfg(feature = "auth")]
    pub(super) provider: Option<svc_auth::SharedProvider>,
    #[cfg(feature = "auth")]
    pub(super) revocation: Option<svc_auth::TokenRevocationService>,
    #[cfg(feature = "native-auth")]
    pub(super) accounts: Option<svc_auth::accounts::AccountDatabase>,
    /// The provider configured by the settings.
    #[cfg(feature = "native-auth")]
    pub(super) native: Option<svc_auth::accounts::NativeAuthProvider>,
    #[cfg(feature = "auth")]
    pub(super) api_keys: Option<super::ApiKeys>,
    #[cfg(feature = "auth")]
    pub(super) user_loader: Option<super::UserLoader>,
    #[cfg(feature = "auth")]
    pub(super) user_database: super::UserDatabase,
    /// The client given by the program, or else the client of the settings, created on first use.
    #[cfg(feature = "redis")]
    pub(super) redis: std::sync::OnceLock<svc_core::RedisClient>,
    #[cfg(feature = "embedded")]
    pub(super) embedded: Option<svc_embedded::Options>,
}

impl AppOptions {
    /// Creates options with the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates options with the settings and limits of the environment; see [`SvcConfig`] and
    /// [`Limits`].
    ///
    /// # Errors
    /// A [`ConfigError`] with the name of the variable and its allowed values.
    pub fn from_env() -> Result<Self, ConfigError> {
        Ok(Self {
            reads_environment: true,
            ..Self::default().config(SvcConfig::from_env()?)
        })
    }

    /// Replaces all settings, including the limits.
    pub fn config(mut self, config: SvcConfig) -> Self {
        self.config = config;
        self
    }

    /// Sets the URL of the database, as `postgres://user:password@host:port/name`.
    pub fn database_url(mut self, url: impl Into<String>) -> Self {
        self.config.database.url = Some(url.into());
        self
    }

    /// Sets an embedded PostgreSQL, which the program starts itself if no database URL is set; see
    /// [`svc::embedded`](crate::embedded).
    #[cfg(feature = "embedded")]
    pub fn embedded_database(mut self, options: svc_embedded::Options) -> Self {
        self.embedded = Some(options);
        self
    }

    /// Sets the SQL that runs in one transaction when the database is first reached, before any
    /// query: tables, views and seeds of examples and tests. It runs at every start, so it must be
    /// repeatable (`IF NOT EXISTS`, `OR REPLACE`).
    ///
    /// The text is a `&'static str`, or wrapped in [`AssertSqlSafe`](crate::db::AssertSqlSafe).
    pub fn setup_sql(mut self, sql: impl SqlText) -> Self {
        self.setup = Some(sql.into_text());
        self
    }

    /// Sets PostgreSQL variables from each request, for policies of row-level security.
    pub fn session_variables(mut self, variables: SessionVariables) -> Self {
        self.session_variables = variables;
        self
    }

    /// Whether a production service with session variables starts even if policies of row-level
    /// security do not bind it. The log names these policies and how to make them bind.
    pub fn allow_unbound_policies(mut self, allowed: bool) -> Self {
        self.config.database.allow_unbound_policies = allowed;
        self
    }

    /// Sets the maximum time of a request, including all waiting; `None` for no limit. Default a
    /// minute.
    pub fn request_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.config.request_timeout = timeout.into();
        self
    }

    /// Replaces all limits on documents and pages, including the limits of the settings.
    /// [`Limits::from_env`] returns the limits of the environment.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// Sets the source of events, in place of the database's `NOTIFY`; see
    /// [`svc::events`](crate::events).
    ///
    /// ```
    /// use svc::events::InProcessEvents;
    /// use svc::prelude::*;
    ///
    /// let options = AppOptions::new().event_source(InProcessEvents::new());
    /// ```
    pub fn event_source(mut self, source: impl EventSource) -> Self {
        self.event_source = Some(Box::new(source));
        self
    }

    /// Adds channels to listen to, for [`Context::events`](crate::Context::events). The channels of
    /// subscriptions without a body need no listing. If programs notify one of them, and no trigger
    /// does, list it: then the service does not hint that nothing in the database notifies it.
    pub fn event_channels(mut self, channels: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.event_channels
            .extend(channels.into_iter().map(Into::into));
        self
    }

    /// Sets checks that must pass for `/ready`, in addition to its own.
    ///
    /// ```
    /// use svc::health::HealthCheck;
    /// use svc::prelude::*;
    ///
    /// # async fn mail_server_answers() -> Result<()> { Ok(()) }
    /// let health = HealthCheck::new().add_check("mail", |_| mail_server_answers());
    /// let options = AppOptions::new().health_check(&health);
    /// ```
    pub fn health_check(mut self, health: &HealthCheck) -> Self {
        self.health = Some(health.clone());
        self
    }

    /// Adds operations to register: documents that clients may name, with or without SQL that
    /// executes them.
    pub fn operations(mut self, operations: impl IntoIterator<Item = Operation>) -> Self {
        self.registered.extend(operations);
        self
    }

    /// Sets a directory whose files are registered: each `*.graphql` or `*.gql` below it is an
    /// operation, and `name.sql` beside `name.graphql` is its SQL. The directory is read when the
    /// application is created.
    pub fn operations_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.config.operations.dir = Some(folder.into());
        self
    }

    /// Sets the registry to use, for a program that registers operations while it runs.
    pub fn operation_registry(mut self, registry: OperationRegistry) -> Self {
        self.registry = registry;
        self
    }

    /// Whether clients may send only registered operations.
    pub fn registered_only(mut self, on: bool) -> Self {
        self.config.operations.registered_only = on;
        self
    }

    /// Whether `POST /graphql/rust` is served, for operations that need no function of the program.
    pub fn enable_rust_endpoint(mut self, on: bool) -> Self {
        self.config.operations.rust_endpoint = on;
        self
    }

    /// Adds a value for resolvers, which find it by its type:
    /// [`Context::data`](crate::Context::data).
    pub fn data<T: Any + Send + Sync>(mut self, value: T) -> Self {
        self.data.insert(value);
        self
    }

    /// Adds a value that is created once for each request, before its first field runs; resolvers,
    /// session variables and context values find it by its type:
    /// [`Context::data`](crate::Context::data).
    ///
    /// Values are created one after the other, in the order of these calls, and each can read the
    /// earlier ones. An error fails the whole request: no field runs, and clients see it like a
    /// resolver's error. The time counts toward the request's timeout. Requests that are rejected
    /// before they run, such as invalid documents, create no values.
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// struct Tenant(String);
    ///
    /// #[svc::query]
    /// fn tenant(ctx: &Context<'_>) -> Result<String> {
    ///     Ok(ctx.data::<Tenant>()?.0.clone())
    /// }
    ///
    /// let options = AppOptions::new().queries(queries![tenant]).request_data(|request| async move {
    ///     let host = request.header("host").and_then(|host| host.split('.').next());
    ///     let name = host.ok_or_else(|| Error::new(ErrorCode::BadRequest, "name a tenant in the host"))?;
    ///     Ok(Tenant(name.to_owned()))
    /// });
    /// ```
    pub fn request_data<T, F, R>(mut self, make: F) -> Self
    where
        T: Any + Send + Sync,
        F: Fn(RequestContext) -> R + Send + Sync + 'static,
        R: Future<Output = svc_core::Result<T>> + Send + 'static,
    {
        self.request_data.insert(make);
        self
    }

    /// Adds the message that clients receive when a mutation violates a constraint of the database.
    /// The errors of all other constraints are masked.
    ///
    /// ```
    /// use svc::Constraint;
    /// use svc::prelude::*;
    ///
    /// let options =
    ///     AppOptions::new().constraint(Constraint::new("tb_user_email_key", "this email is taken").field("email"));
    /// ```
    pub fn constraint(mut self, constraint: Constraint) -> Self {
        self.constraints.insert(constraint.name.clone(), constraint);
        self
    }

    /// Adds a value of the request that database functions receive before their arguments, by the
    /// name that `#[svc::mutation(function = "…", context = ["…"])]` uses. `None` is null.
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// let options = AppOptions::new()
    ///     .context_value("tenant_id", |ctx| Ok(ctx.header("x-tenant-id").map(str::to_owned)));
    /// ```
    ///
    /// Clients choose their headers. Trust a header only if a proxy sets it.
    pub fn context_value(
        mut self,
        name: impl Into<String>,
        value: impl Fn(&Context<'_>) -> svc_core::Result<Option<String>> + Send + Sync + 'static,
    ) -> Self {
        self.context_values.insert(name.into(), Box::new(value));
        self
    }

    /// Whether the options have an authorizer for all operations.
    #[cfg(feature = "testing")]
    pub(crate) fn has_authorizer(&self) -> bool {
        self.authorizer.is_some()
    }

    /// Takes the authorizer, wrapped in the cache if there is one, and with the dry-run rules.
    pub(super) fn take_authorizer(&mut self) -> Option<Box<dyn DynAuthorizer>> {
        let cache = self.authorization_cache.take();
        let enforced = self.authorizer.take().map(|authorizer| match cache {
            Some(cache) => Box::new(CachedAuthorizer::new(authorizer, cache)),
            None => authorizer,
        });
        if self.tried_rules.is_empty() {
            return enforced;
        }

        let limit = self.config.authorization_timeout.min(MAX_TIMEOUT);

        Some(Box::new(TryingAuthorizer::new(
            enforced,
            std::mem::take(&mut self.tried_rules),
            limit,
        )))
    }

    /// Suppresses log notes on the environment: a test takes its settings from elsewhere.
    #[cfg(feature = "testing")]
    pub(crate) fn quiet(mut self) -> Self {
        self.is_quiet = true;
        self
    }

    /// Adds a hook inside the existing ones.
    #[cfg(test)]
    pub(crate) fn hook(mut self, hook: impl svc_engine::graphql::Hook) -> Self {
        self.hooks.push(hook);
        self
    }

    /// The settings of the security log.
    #[cfg(feature = "testing")]
    pub(crate) fn security_log(&self) -> &svc_telemetry::SecurityLogConfig {
        &self.config.security_log
    }
}

impl std::fmt::Debug for AppOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AppOptions")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
