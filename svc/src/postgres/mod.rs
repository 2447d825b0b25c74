//! PostgreSQL: connections and their pool, health checks, and the catalog.
//!
//! This module is independent of GraphQL. [`statement`] defines statements, [`driver`] runs them,
//! and [`Database`] combines everything.

mod call;
mod catalog;
mod column_facts;
mod connect;
mod database;
mod describe;
mod driver;
mod error;
mod explain;
mod fault;
mod fingerprint;
mod functions;
mod identifier;
mod last_change;
mod ledger;
mod pattern_error;
mod reader;
mod recorder;
mod retries;
#[cfg(feature = "native-auth")]
mod routines;
mod row_functions;
mod row_security;
mod rows;
mod rows_call;
mod schema_version;
#[cfg(feature = "testing")]
mod script_connection;
mod session;
mod session_effects;
mod share;
mod shared_reads;
mod source;
mod sqlstate;
#[cfg(feature = "sqlx")]
mod sqlx_pool;
mod statement;
mod table;

pub(crate) use call::{Call, Called, Caller, Written, has_nul};
pub(crate) use catalog::Catalog;
pub(crate) use column_facts::ColumnFacts;
pub(crate) use connect::{ConnectConfig, Variable};
pub(crate) use database::{CheckError, Database, Needs, Settings};
#[cfg(feature = "native-auth")]
pub(crate) use driver::Bounds;
pub(crate) use driver::{
    Columns, Commit, DriverError, Isolation, ListeningConnection, OpenTransaction,
};
pub(crate) use error::{DbError, RETRYABLE};
pub(crate) use explain::Explained;
pub(crate) use fault::Fault;
pub(crate) use functions::{ArgForm, FunctionSpec};
pub(crate) use identifier::quote;
pub(crate) use ledger::{Effect, EffectLog};
pub(crate) use reader::Reader;
pub(crate) use recorder::{Recorded, Recorder};
pub(crate) use retries::Retries;
#[cfg(feature = "native-auth")]
pub(crate) use routines::Routines;
pub(crate) use row_security::{Enforcement, RowSecurity};
pub(crate) use rows::{RowSink, Rows, cell};
pub(crate) use rows_call::RowsCall;
pub(crate) use schema_version::SchemaVersion;
#[cfg(feature = "testing")]
pub(crate) use script_connection::ScriptConnection;
pub(crate) use session::Session;
pub(crate) use share::RequestQuota;
pub(crate) use shared_reads::{Participant, SharedReads};
pub(crate) use source::{ColumnType, Source};
pub(crate) use sqlstate::{CONTENTION, ErrorReport, is_contention, is_conversion};
#[cfg(feature = "sqlx")]
pub(crate) use sqlx_pool::{CommitError, commit as commit_sqlx};
use statement::Running;
pub(crate) use statement::{
    Oid, Param, PatternLanguage, Probe, Statement, StatementSubject, StatementText,
};
pub(crate) use table::{Conflict, ConflictAction, Table};
