//! PostgreSQL for svc: driver, pool, catalog and statements.
//!
//! It has no dependency on GraphQL.
//!
//! This crate is internal: it is published because `svc` needs it, and it changes without notice.
//! Programs depend on `svc`, which re-exports the public part.
//!
//! | Contents | Module |
//! |---|---|
//! | Connections, the pool, transactions, the wire | `driver` |
//! | A database: reads, writes, calls, health | `database` |
//! | Views, columns, types and functions | `catalog` |
//! | Statements and their parameters | `statement` |
//! | Errors, as clients see them | `error` |
//! | The connection of sqlx | `sqlx_pool` |
//! | Whether row-level security binds the service | `row_security` |
//! | Plans and hints | `explain` |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(test, expect(clippy::unwrap_used, reason = "tests"))]
#![allow(
    missing_docs,
    clippy::len_without_is_empty,
    clippy::new_without_default,
    clippy::should_implement_trait,
    rustdoc::private_intra_doc_links,
    reason = "internal: the part that svc re-exports is documented"
)]

mod catalog;
mod connect;
mod database;
mod driver;
mod error;
mod explain;
mod row_security;
#[cfg(feature = "testing")]
mod script_connection;
mod session;
mod session_effects;
#[cfg(feature = "sqlx")]
mod sqlx_pool;
mod statement;
mod write;

pub use catalog::functions::{ArgForm, FunctionSpec};
pub use catalog::{Catalog, ColumnFacts, ColumnType, RowsCall, Source};
pub use connect::{ConnectConfig, Variable};
#[cfg(feature = "native-auth")]
pub use database::Routines;
pub use database::{
    Call, Called, Caller, CheckError, Database, Needs, Participant, Reader, Retries, SchemaVersion,
    Settings, SharedReads, Written, has_nul,
};
#[cfg(feature = "native-auth")]
pub use driver::Bounds;
pub use driver::{Columns, Commit, DriverError, Isolation, ListeningConnection, OpenTransaction};
pub use error::{DbError, Fault};
pub use explain::Explained;
pub use row_security::{Enforcement, RowSecurity};
#[cfg(feature = "testing")]
pub use script_connection::ScriptConnection;
pub use session::{RequestQuota, Session};
#[cfg(feature = "sqlx")]
pub use sqlx_pool::{CommitError, commit as commit_sqlx};
use statement::Running;
pub use statement::recorder::{Recorded, Recorder};
pub use statement::{
    Oid, Param, PatternLanguage, Probe, RowSink, Rows, Statement, StatementSubject, StatementText,
    cell, quote, quote_literal,
};
pub use write::{Conflict, ConflictAction, Effect, EffectLog, Table};
