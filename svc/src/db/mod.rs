//! The database: its pools and its health, session variables, the catalogue of views, filters, and the statements made of them.

mod aggregate;
mod arguments;
mod call;
mod catalogue;
mod changes;
mod column;
mod connect;
mod connection;
mod database;
mod describe;
mod driver;
mod error;
mod filter;
mod find;
mod fingerprint;
mod functions;
mod handle;
mod health;
mod operator;
mod page;
mod pattern_error;
mod reader;
mod row_security;
mod rows;
mod session;
mod sql;
#[cfg(feature = "sqlx")]
mod sqlx_pool;
#[cfg(feature = "sqlx")]
mod sqlx_transaction;
mod transaction;
mod value;

pub use aggregate::{Aggregate, GroupCount};
pub use arguments::{OrderBy, Where};
pub use connection::{Connection, ConnectionSpec, Edge, Slice};
pub use filter::{Column, Filter, Order, asc, col, desc};
pub(crate) use find::page;
pub use find::{Find, FindOne, FindSpec};
pub use handle::Db;
pub use operator::Operator;
pub use page::{CursorPage, Page};
pub use session::SessionVariables;
#[cfg(feature = "sqlx")]
pub use sqlx_transaction::{SqlxConnection, SqlxTransaction};
pub use transaction::Transaction;
pub use value::SqlValue;

pub(crate) use aggregate::key_order;
pub(crate) use call::{Call, Fault, Written, has_nul};
pub(crate) use catalogue::{Catalogue, Oid, Source};
pub(crate) use column::{ColumnForm, Select, select_form};
pub(crate) use connect::{ConnectConfig, Variable};
pub(crate) use database::{CheckError, Database, Settings};
pub(crate) use describe::Columns;
pub(crate) use driver::Commit;
pub(crate) use error::DbError;
pub(crate) use filter::{Direction, Nulls, Rank};
pub(crate) use functions::{ArgForm, FunctionSpec};
pub(crate) use operator::{Family, Operand, OperatorDef, SEARCH};
pub(crate) use reader::Reader;
pub(crate) use row_security::{Enforcement, RowSecurity};
pub(crate) use rows::{RowSink, Rows, cell};
pub(crate) use session::Session;
pub(crate) use sql::{
    AggregateFunction, Checks, Keyset, Param, Part, PatternLanguage, Query, Selected, Statement, StatementText,
    Varying, Window, family, order_keys, record_types, telling_columns, value_form,
};
