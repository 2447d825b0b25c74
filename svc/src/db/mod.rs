//! The database: its pools and its health, session variables, the catalogue of views, filters, and the statements made of them.

mod catalogue;
mod column;
mod database;
mod driver;
mod error;
mod filter;
mod find;
mod handle;
mod operator;
mod rows;
mod session;
mod sql;
mod transaction;
mod value;

pub use filter::{Column, Filter, Order, asc, col, desc};
pub(crate) use find::page;
pub use find::{Find, FindOne, FindSpec};
pub use handle::Db;
pub use operator::Operator;
pub use session::SessionVariables;
pub use transaction::{SqlConnection, Transaction};
pub use value::SqlValue;

pub(crate) use catalogue::{Source, quote};
pub(crate) use column::{ColumnForm, Select, select_form};
pub(crate) use database::{Database, Settings};
pub(crate) use error::DbError;
pub(crate) use filter::{Direction, Nulls};
pub(crate) use operator::{Family, Operand};
pub(crate) use rows::Rows;
pub(crate) use session::Session;
pub(crate) use sql::{Page, Param, SelectList, Statement, Total, family};
