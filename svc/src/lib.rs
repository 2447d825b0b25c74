//! GraphQL services over PostgreSQL views.

#![forbid(unsafe_code)]
#![cfg_attr(test, expect(clippy::unwrap_used, reason = "tests"))]
#![warn(missing_debug_implementations)]

pub mod db;
pub mod schema;

#[doc(hidden)]
pub mod __private;
mod app;
mod authz;
mod engine;
mod error;
mod http;
mod scalar;

pub mod prelude;

pub use app::{
    AppOptions, ConfigError, Environment, MutationList, QueryList, Server, StartError, SvcConfig, TypeList,
    create_svc_app, serve,
};
pub use engine::{Context, Limits};
pub use error::{Error, ErrorCode, Result};
pub use svc_macros::{mutation, query, svc_enum, svc_input, svc_interface, svc_scalar, svc_type, svc_union};

#[cfg(feature = "embedded")]
#[doc(inline)]
pub use svc_embedded as embedded;

pub use async_graphql;
pub use axum;
pub use sqlx;
