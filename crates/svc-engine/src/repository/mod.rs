//! The database API of resolvers: queries, pages, aggregates and transactions. The engine
//! implements awaiting them (`graphql/execute/awaited/`).

mod aggregate;
mod arguments;
mod atomic;
mod connection;
mod find;
mod handle;
mod page;
mod sql_text;
#[cfg(feature = "sqlx")]
mod sqlx_transaction;
mod transaction;
mod transaction_command;

pub use aggregate::{Aggregate, GroupCount};
pub use arguments::{OrderBy, Where};
pub use atomic::Atomic;
pub use connection::{Connection, ConnectionSpec, Edge, Slice};
pub use find::{Find, FindOne, FindSpec};
pub use handle::Db;
pub use page::{CursorPage, Page};
pub use sql_text::{AssertSqlSafe, SqlText};
#[cfg(feature = "sqlx")]
pub use sqlx_transaction::{SqlxConnection, SqlxTransaction};
pub use transaction::{RetriedTransaction, Transaction};

pub use crate::sql::{Column, Filter, Order, asc, col, desc};
#[doc(inline)]
pub use svc_core::scalar::sql_value::SqlValue;
#[doc(inline)]
pub use svc_core::schema::operator::Operator;

pub(crate) use aggregate::key_order;
pub(crate) use find::check_size;
pub use find::page;
