//! The options for the schema, and the schema itself.

use super::AppOptions;
use crate::app::{MutationList, QueryList, StartError, SubscriptionList, TypeList};

impl AppOptions {
    /// Adds types that no operation reaches, such as the members of an interface that an operation
    /// returns.
    pub fn types(mut self, types: TypeList) -> Self {
        self.types.extend(types.0);
        self
    }

    /// Adds types whose rows only the program reads, as with `db.find::<T>()` in
    /// [`load_user`](Self::load_user). Clients can neither see these types nor reach their rows.
    /// Types that are in the schema anyway need no listing.
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// #[svc_type(sql_source = "v_membership")]
    /// struct Membership {
    ///     id: Uuid,
    ///     role: String,
    /// }
    ///
    /// #[svc::query]
    /// async fn roles(ctx: &Context<'_>) -> Result<Vec<String>> {
    ///     Ok(ctx.db().find::<Membership>().await?.into_iter().map(|membership| membership.role).collect())
    /// }
    ///
    /// let options = AppOptions::new().queries(queries![roles]).internal_types(types![Membership]);
    /// assert!(!options.sdl()?.contains("Membership"));
    /// # Ok::<(), svc::StartError>(())
    /// ```
    pub fn internal_types(mut self, types: TypeList) -> Self {
        self.internal_types.extend(types.0);
        self
    }

    /// Adds types whose rows clients can refetch by an opaque id: each gets the field `nodeId` and
    /// implements the interface `Node`, and `Query` gets `node(id:)` and `nodes(ids:)`, which find
    /// the rows of all these types. Row policies apply there as everywhere.
    pub fn nodes(mut self, types: TypeList) -> Self {
        self.nodes.extend(types.0);
        self
    }

    /// Adds queries to serve; a service has at least one.
    pub fn queries(mut self, queries: QueryList) -> Self {
        self.operations.extend(queries.0);
        self
    }

    /// Adds mutations to serve.
    pub fn mutations(mut self, mutations: MutationList) -> Self {
        self.operations.extend(mutations.0);
        self
    }

    /// Adds subscriptions to serve.
    pub fn subscriptions(mut self, subscriptions: SubscriptionList) -> Self {
        self.operations.extend(subscriptions.0);
        self
    }

    /// Whether `created_at` becomes `createdAt`.
    pub fn auto_camel_case(mut self, on: bool) -> Self {
        self.config.schema.auto_camel_case = on;
        self
    }

    /// Whether filters have operators that take regular expressions: `matches`, `imatches` and
    /// `pathExists`. Even a short regular expression can keep PostgreSQL busy for a long time.
    pub fn regular_expressions(mut self, on: bool) -> Self {
        self.config.schema.regular_expressions = on;
        self
    }

    /// Whether the schema shows guards as directives, such as `@requiresRole(role: "admin")`.
    pub fn guard_directives(mut self, on: bool) -> Self {
        self.config.schema.guard_directives = on;
        self
    }

    /// Whether the schema shows non-null fields that may fail as nullable, with `@semanticNonNull`,
    /// so that an error makes only the field null.
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// #[svc::query]
    /// fn answer() -> i32 {
    ///     42
    /// }
    ///
    /// let options = AppOptions::new().queries(queries![answer]).semantic_non_null(true);
    /// assert!(options.sdl()?.contains("answer: Int @semanticNonNull"));
    /// # Ok::<(), svc::StartError>(())
    /// ```
    pub fn semantic_non_null(mut self, on: bool) -> Self {
        self.config.schema.semantic_non_null = on;
        self
    }

    /// Returns the schema in the schema definition language.
    ///
    /// # Errors
    /// When the schema cannot be served.
    pub fn sdl(&self) -> Result<String, StartError> {
        self.model().map(|model| model.sdl)
    }

    pub(crate) fn model(&self) -> Result<svc_core::schema::Model, StartError> {
        use svc_core::schema::{Dialect, Listed, Naming, build};

        let naming = if self.config.schema.auto_camel_case {
            Naming::CamelCase
        } else {
            Naming::AsWritten
        };

        let listed = Listed {
            types: self.types.clone(),
            operations: self.operations.clone(),
            nodes: self.nodes.clone(),
            internal: self.internal_types.clone(),
        };

        let crate::SchemaConfig {
            regular_expressions,
            guard_directives,
            semantic_non_null,
            ..
        } = self.config.schema;

        let dialect = Dialect {
            naming,
            regular_expressions,
            guard_directives,
            semantic_non_null,
        };

        build(&listed, dialect, svc_engine::graphql::coerce_literal).map_err(StartError::Schema)
    }
}
