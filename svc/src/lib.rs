//! GraphQL services over PostgreSQL views.
//!
//! A program annotates structs and functions. [`create_svc_app`] builds the schema from them and
//! returns an [`axum::Router`]. A function without a body reads a view with one SQL statement per
//! request: the fields that the client selects, and its `where`, `orderBy`, `limit` and `offset`.
//!
//! ```no_run
//! use svc::prelude::*;
//!
//! /// A user.
//! #[svc_type(sql_source = "v_user")]
//! pub struct User {
//!     pub id: Uuid,
//!     pub name: String,
//! }
//!
//! /// Users.
//! #[svc::query]
//! async fn users() -> Vec<User>;
//!
//! #[tokio::main]
//! async fn main() -> svc::Result<()> {
//!     let options = AppOptions::from_env()?.queries(queries![users]);
//!     svc::serve(create_svc_app(options).await?).await
//! }
//! ```
//!
//! # Where to look
//!
//! | Topic | Items |
//! |---|---|
//! | Types | [`svc_type`], [`svc_enum`], [`svc_interface`], [`svc_union`], [`svc_input`] |
//! | Custom scalars and results | [`svc_scalar`], [`svc_result`] |
//! | Operations | [`query`], [`mutation`], and their context: [`Context`] |
//! | Relations between views | [`One`], [`Many`] |
//! | Pages with cursors, aggregates | [`Connection`], [`Aggregate`] |
//! | List arguments of a function with a body | [`Where`], [`OrderBy`], [`Page`], [`CursorPage`] |
//! | Scalars beyond the built-in ones | [`scalar`] |
//! | Reading rows in a function with a body | [`db`]: [`db::Db::find`], [`db::Find`], [`db::col`], [`db::asc`] |
//! | Custom SQL, and tenants | [`db::Db::transaction`], [`db::SessionVariables`] |
//! | Subscriptions | [`subscription`], [`AppOptions::subscriptions`] |
//! | Calling database functions | [`mutation`], [`svc_result`], [`Patch`], [`Constraint`], [`db::Db::call`] |
//! | Authentication: tokens, users | `auth`, with the feature `auth` |
//! | Accounts with names and passwords | `accounts`, with the feature `native-auth` |
//! | Sessions in cookies | `sessions`, with the feature `sessions` |
//! | Authorization of operations and rows | [`authz`], [`AppOptions::authorizer`] |
//! | Rate limits | [`rate_limit`], [`setup_rate_limiting`] |
//! | Security events | [`security_log`], [`get_security_logger`] |
//! | Metrics | [`setup_metrics`], [`metrics`] |
//! | OpenTelemetry traces | [`setup_tracing`], [`trace`] |
//! | Errors | [`Error`], [`ErrorCode`], [`MutationError`] |
//! | The request log, and grouped errors | [`LogConfig`], [`error_tracker`] |
//! | Options and settings | [`AppOptions`], [`SvcConfig`], [`Limits`] |
//! | Lists of types and operations | [`types!`], [`queries!`], [`mutations!`], [`subscriptions!`] |
//! | Registered documents, cached SQL | [`Operation`], [`OperationRegistry`] |
//! | Tests: clients, databases, access matrices | `testing` and `#[svc::test]`, with the feature `testing` |
//! | Serving | [`create_svc_app`], [`serve()`], [`Server`] |
//! | Traits that the macros implement | [`schema`] |
//! | Imports for most programs | [`prelude`] |
//!
//! The book (`docs/` in the repository) has a chapter for each topic.
//!
//! # Features
//!
//! | Feature | Default | Adds |
//! |---|---|---|
//! | `graphiql` | yes | the GraphiQL page at `GET /graphql` in development, from files inside the crate |
//! | `tls` | yes | encrypted connections to PostgreSQL and Redis |
//! | `logging` | yes | a `tracing` subscriber that writes to standard error, if the program has none |
//! | `scalars` | yes | the scalars that need another crate, such as [`scalar::Url`] and [`scalar::Iban`] |
//! | `sqlx` | yes | `svc::sqlx`, and a pool and transactions of sqlx for your SQL: `Db::pool`, `Db::sqlx_transaction` |
//! | `websocket` | yes | WebSockets at `/graphql`, for subscriptions |
//! | `auth` | no | users and tokens: `svc::auth`, `Context::user`, providers that verify tokens |
//! | `idp` | no | identity providers: key sets (JWKS), discovery, introspection of opaque tokens; includes `auth` |
//! | `native-auth` | no | accounts with names and passwords: `svc::accounts`; includes `auth` |
//! | `compression` | no | responses compressed with br, zstd or gzip: `SVC_COMPRESSION` |
//! | `redis` | no | `RedisClient`: revocations, sessions, rate limits, cached responses, persisted queries and events in Redis; includes `auth` |
//! | `metrics` | no | Prometheus metrics: [`setup_metrics`], [`get_metrics`] |
//! | `tracing-otel` | no | OpenTelemetry traces: [`setup_tracing`], [`TracingConfig`] |
//! | `sessions` | no | sessions in cookies: `svc::sessions`, `Context::session` |
//! | `upload` | no | file uploads: `svc::Upload`, `SVC_UPLOADS` |
//! | `patterns` | no | validation of input values with regular expressions: `#[svc(pattern = "…")]` |
//! | `testing` | no | a client and a database for each test: `svc::testing` and `#[svc::test]` |
//! | `embedded` | no | a private PostgreSQL for development and tests, started from the binaries on the machine: `svc::embedded` |
//! | `embedded-download` | no | the same, with a download of PostgreSQL if none is installed; includes `embedded` |
//!
//! [`axum`], [`async_graphql`], [`futures_util`], [`serde_json`] and `sqlx` are re-exported,
//! because their types appear in signatures.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(test, expect(clippy::unwrap_used, reason = "tests"))]
#![warn(missing_debug_implementations)]

// Allows tests inside the crate to use the macros.
#[cfg(any(test, fuzzing))]
extern crate self as svc;

pub mod rate_limit;
#[cfg(feature = "testing")]
pub mod testing;

#[doc(hidden)]
pub mod __private;
mod api;
mod app;
#[cfg(any(test, doctest))]
mod book;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod health;
mod http;
mod missing_features;

pub mod prelude;

#[cfg(feature = "native-auth")]
pub use api::accounts;
#[cfg(feature = "sessions")]
pub use api::sessions;
pub use api::{
    auth, authz, db, error_tracker, events, metrics, query_stats, scalar, schema, security_log,
    trace,
};
pub use app::{
    AccountsConfig, AppOptions, DatabaseConfig, Environment, EventsConfig, HttpConfig,
    MutationList, OperationsConfig, ProtectionConfig, QueryList, RedisConfig, SchemaConfig, Server,
    StartError, SubscriptionList, SvcConfig, TypeList, create_svc_app, serve, setup_metrics,
    setup_tracing,
};
#[cfg(feature = "auth")]
pub use app::{ApiKeys, AuthenticatedUser};
pub use http::{GraphqlOverHttp, SubscriptionsConfig};
pub use rate_limit::{RateLimitConfig, setup_rate_limiting};
#[cfg(feature = "auth")]
#[doc(inline)]
pub use svc_auth::UserContext;
#[doc(inline)]
pub use svc_auth::{AuthConfig, AuthProviderKind, IdpConfig, TokenAlgorithm};
#[cfg(feature = "redis")]
#[doc(inline)]
pub use svc_core::RedisClient;
#[doc(inline)]
pub use svc_core::{
    ConfigError, Error, ErrorCode, Many, OnFailure, One, RelationKey, RequestId, Result,
    TracingConfig,
};
#[doc(inline)]
pub use svc_engine::{
    Aggregate, Connection, Constraint, Context, CursorPage, LimitMode, Limits, MutationError,
    Operation, OperationError, OperationRegistry, OrderBy, Page, Patch, RequestContext,
    ResponseCache, ResponseCacheConfig, Returns, ReturnsBatch, Transport, UploadConfig, Where,
};
#[cfg(feature = "upload")]
#[doc(inline)]
pub use svc_engine::{Upload, UploadedFile};
#[cfg(feature = "testing")]
pub use svc_macros::test;
pub use svc_macros::{
    authorize_field, mutation, query, subscription, svc_enum, svc_input, svc_interface, svc_result,
    svc_scalar, svc_type, svc_union,
};
#[doc(inline)]
pub use svc_telemetry::{
    LogConfig, LogFormat, MetricsConfig, SecurityLogConfig, get_metrics, get_security_logger,
    init_security_logger,
};
#[cfg(feature = "sqlx")]
#[doc(inline)]
pub use svc_telemetry::{get_error_tracker, init_error_tracker};

#[cfg(feature = "auth")]
pub use svc_macros::{
    requires_any_permission, requires_any_role, requires_auth, requires_permission, requires_role,
};

#[cfg(feature = "embedded")]
#[doc(inline)]
pub use svc_embedded as embedded;

pub use async_graphql;
pub use axum;
pub use futures_util;
pub use serde_json;
#[cfg(feature = "sqlx")]
pub use sqlx;
