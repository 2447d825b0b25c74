//! The database API for resolvers: queries, pages, aggregates, calls, transactions and session
//! variables.

#[doc(inline)]
pub use svc_engine::repository::{
    Aggregate, AssertSqlSafe, Column, Connection, ConnectionSpec, CursorPage, Db, Edge, Filter,
    Find, FindOne, FindSpec, GroupCount, Operator, Order, OrderBy, Page, RetriedTransaction, Slice,
    SqlText, SqlValue, Transaction, Where, asc, col, desc,
};
#[cfg(feature = "sqlx")]
#[doc(inline)]
pub use svc_engine::repository::{SqlxConnection, SqlxTransaction};
#[doc(inline)]
pub use svc_engine::request::SessionVariables;
