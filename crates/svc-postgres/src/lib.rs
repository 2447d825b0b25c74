//! PostgreSQL for svc: connections, statements and the catalog.
//!
//! The entry point is `Database`: it runs a `Statement` in the `Session` of a request. This crate
//! is independent of GraphQL; `svc-engine` writes the SQL of reads.
//!
//! This crate is an internal part of `svc`: it is published because `svc` needs it, and changes
//! without notice. Programs depend on `svc`, which re-exports the public items.
//!
//! | Module | Contents |
//! |---|---|
//! | `connect` | the database URL and libpq's variables, for both pools |
//! | `driver` | the pool, its connections, transactions, deadlines and the wire |
//! | `sqlx_pool` | the pool of sqlx, for the program's own SQL |
//! | `database` | `Database`: reads, writes, calls, health, shared reads, changes of views |
//! | `catalog` | columns, types and functions, as the database has them |
//! | `statement` | a statement: its text, its parameters and its rows |
//! | `write` | statements that write to tables |
//! | `session` | the session variables of a request |
//! | `session_effects` | whether a call may leave effects in its session, and the reset |
//! | `row_security` | whether row-level security binds the service |
//! | `explain` | PostgreSQL's plans, and hints about missing indexes |
//! | `error` | the errors between a statement and its rows, as clients see them |
//! | `script_connection` | a connection for tests that create databases |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(test, expect(clippy::unwrap_used, reason = "tests"))]
#![cfg_attr(
    not(all(
        feature = "native-auth",
        feature = "redis",
        feature = "sqlx",
        feature = "testing",
        feature = "tls",
    )),
    allow(
        unreachable_pub,
        reason = "items that svc uses only with some features are public"
    )
)]
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
pub use driver::{
    AtomicTransaction, Columns, Commit, DriverError, Isolation, ListeningConnection,
    OpenTransaction, RetryCause,
};
pub use error::{DbError, Fault};
pub use explain::Explained;
pub use row_security::{Enforcement, RowSecurity};
#[cfg(feature = "testing")]
pub use script_connection::ScriptConnection;
pub use session::{HeldTurn, RequestQuota, Session};
#[cfg(feature = "sqlx")]
pub use sqlx_pool::{CommitError, commit as commit_sqlx};
use statement::Running;
pub use statement::recorder::{Recorded, Recorder};
pub use statement::{
    Oid, Param, PatternLanguage, Probe, RowSink, Rows, Statement, StatementSubject, StatementText,
    cell, quote, quote_literal,
};
pub use write::{Conflict, ConflictAction, Effect, EffectLog, RowLock, Table};
