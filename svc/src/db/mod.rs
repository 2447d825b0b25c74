//! The database: its pool and its health, the catalogue of views, filters, and the statements made of them.

mod call;
mod catalogue;
mod column;
mod database;
mod error;
mod filter;
mod find;
mod functions;
mod handle;
mod operator;
mod rows;
mod sql;
mod value;

pub use filter::{Column, Filter, Order, asc, col, desc};
pub(crate) use find::page;
pub use find::{Find, FindOne, FindSpec};
pub use handle::Db;
pub use operator::Operator;
pub use value::SqlValue;

pub(crate) use call::Fault;
pub(crate) use catalogue::{Source, quote};
pub(crate) use column::{ColumnForm, Select, select_form};
pub(crate) use database::{Database, Settings};
pub(crate) use error::DbError;
pub(crate) use filter::{Direction, Nulls};
pub(crate) use functions::{ArgForm, FunctionSpec};
pub(crate) use operator::{Family, Operand};
pub(crate) use rows::Rows;
pub(crate) use sql::{Page, Param, SelectList, Statement, Total, family};
