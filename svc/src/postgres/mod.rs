//! PostgreSQL: connections and their pool, health checks, and the catalog.
//!
//! This module is independent of GraphQL. [`statement`] defines statements, [`driver`] runs them,
//! and [`Database`] combines everything.

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
mod sqlstate;
#[cfg(feature = "sqlx")]
mod sqlx_pool;
mod statement;
mod write;

pub(crate) use catalog::functions::{ArgForm, FunctionSpec};
pub(crate) use catalog::{Catalog, ColumnFacts, ColumnType, RowsCall, Source};
pub(crate) use connect::{ConnectConfig, Variable};
#[cfg(feature = "native-auth")]
pub(crate) use database::Routines;
pub(crate) use database::{
    Call, Called, Caller, CheckError, Database, Needs, Participant, Reader, Retries, SchemaVersion,
    Settings, SharedReads, Written, has_nul,
};
#[cfg(feature = "native-auth")]
pub(crate) use driver::Bounds;
pub(crate) use driver::{
    Columns, Commit, DriverError, Isolation, ListeningConnection, OpenTransaction,
};
pub(crate) use error::{DbError, Fault, RETRYABLE};
pub(crate) use explain::Explained;
pub(crate) use row_security::{Enforcement, RowSecurity};
#[cfg(feature = "testing")]
pub(crate) use script_connection::ScriptConnection;
pub(crate) use session::{RequestQuota, Session};
pub(crate) use sqlstate::{CONTENTION, ErrorReport, is_contention, is_conversion};
#[cfg(feature = "sqlx")]
pub(crate) use sqlx_pool::{CommitError, commit as commit_sqlx};
use statement::Running;
pub(crate) use statement::recorder::{Recorded, Recorder};
pub(crate) use statement::{
    Oid, Param, PatternLanguage, Probe, RowSink, Rows, Statement, StatementSubject, StatementText,
    cell, quote, quote_literal,
};
pub(crate) use write::{Conflict, ConflictAction, Effect, EffectLog, Table};
