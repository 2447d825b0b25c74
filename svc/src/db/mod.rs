//! The database as resolvers see it: queries, pages, aggregates, calls, transactions and session variables.

mod aggregate;
mod arguments;
mod connection;
mod find;
mod handle;
mod page;
mod session_variables;
#[cfg(feature = "sqlx")]
mod sqlx_transaction;
mod transaction;

pub use aggregate::{Aggregate, GroupCount};
pub use arguments::{OrderBy, Where};
pub use connection::{Connection, ConnectionSpec, Edge, Slice};
pub use find::{Find, FindOne, FindSpec};
pub use handle::Db;
pub use page::{CursorPage, Page};
pub use session_variables::SessionVariables;
#[cfg(feature = "sqlx")]
pub use sqlx_transaction::{SqlxConnection, SqlxTransaction};
pub use transaction::Transaction;

pub use crate::scalar::sql_value::SqlValue;
pub use crate::schema::operator::Operator;
pub use crate::sql::{Column, Filter, Order, asc, col, desc};

pub(crate) use aggregate::key_order;
pub(crate) use find::page;
