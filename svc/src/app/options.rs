use std::any::Any;
use std::borrow::Cow;

use super::{ConfigError, MutationList, QueryList, SvcConfig, TypeList};
use crate::db::SessionVariables;
use crate::engine::{DataMap, Limits};
use crate::schema::KeyFn;
use crate::schema::OperationMeta;

/// What an application is made of; given to [`create_svc_app`](crate::create_svc_app).
#[derive(Default)]
#[must_use = "give the options to `create_svc_app`"]
pub struct AppOptions {
    pub(super) config: SvcConfig,
    pub(super) limits: Limits,
    pub(super) types: Vec<KeyFn>,
    pub(super) operations: Vec<&'static OperationMeta>,
    pub(super) data: DataMap,
    pub(super) setup: Option<Cow<'static, str>>,
    pub(super) session_variables: SessionVariables,
    #[cfg(feature = "embedded")]
    pub(super) embedded: Option<svc_embedded::Options>,
}

impl AppOptions {
    /// Options with the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Options with the settings of the environment; see [`SvcConfig`].
    ///
    /// # Errors
    /// A [`ConfigError`] that names the variable and what it may be.
    pub fn from_env() -> Result<Self, ConfigError> {
        Ok(Self::default().config(SvcConfig::from_env()?))
    }

    /// Replaces all settings.
    pub fn config(mut self, config: SvcConfig) -> Self {
        self.config = config;
        self
    }

    /// The database, as `postgres://user:password@host:port/name`.
    pub fn database_url(mut self, url: impl Into<String>) -> Self {
        self.config.database_url = Some(url.into());
        self
    }

    /// A PostgreSQL of the program's own, used when no database URL is set; see [`svc::embedded`](crate::embedded).
    #[cfg(feature = "embedded")]
    pub fn embedded_database(mut self, options: svc_embedded::Options) -> Self {
        self.embedded = Some(options);
        self
    }

    /// SQL that is run in one transaction when the database is first reached, before any query: tables, views and
    /// seeds of examples and tests. It is run at every start, so it has to be repeatable (`IF NOT EXISTS`,
    /// `OR REPLACE`).
    pub fn setup_sql(mut self, sql: impl Into<Cow<'static, str>>) -> Self {
        self.setup = Some(sql.into());
        self
    }

    /// Settings that PostgreSQL gets from each request, for policies of row-level security.
    pub fn session_variables(mut self, variables: SessionVariables) -> Self {
        self.session_variables = variables;
        self
    }

    /// Whether `created_at` becomes `createdAt`.
    pub fn auto_camel_case(mut self, on: bool) -> Self {
        self.config.auto_camel_case = on;
        self
    }

    /// The limits on documents and pages.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Types that no operation reaches, such as the members of an interface that is returned.
    pub fn types(mut self, types: TypeList) -> Self {
        self.types.extend(types.0);
        self
    }

    /// The queries to serve; at least one.
    pub fn queries(mut self, queries: QueryList) -> Self {
        self.operations.extend(queries.0);
        self
    }

    /// The mutations to serve.
    pub fn mutations(mut self, mutations: MutationList) -> Self {
        self.operations.extend(mutations.0);
        self
    }

    /// A value for resolvers, who find it by its type: [`Context::data`](crate::Context::data).
    pub fn data<T: Any + Send + Sync>(mut self, value: T) -> Self {
        self.data.insert(value);
        self
    }

    /// The schema in the schema definition language.
    ///
    /// # Errors
    /// When the schema cannot be served.
    pub fn sdl(&self) -> Result<String, super::StartError> {
        self.model().map(|model| model.sdl)
    }

    pub(super) fn model(&self) -> Result<crate::schema::Model, super::StartError> {
        use crate::schema::{Listed, Naming, build};
        let naming = if self.config.auto_camel_case { Naming::CamelCase } else { Naming::AsWritten };
        let listed = Listed { types: self.types.clone(), operations: self.operations.clone() };
        build(&listed, naming).map_err(super::StartError::Schema)
    }
}

impl std::fmt::Debug for AppOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AppOptions").field("config", &self.config).field("limits", &self.limits).finish_non_exhaustive()
    }
}
