//! From a document to bytes: prepare, coerce, gate, execute, complete, write.

mod application;
mod cache;
mod call;
mod coerce;
mod complete;
mod context;
mod document;
mod env;
mod execute;
mod field_error;
mod find;
mod function;
mod introspect;
mod limits;
mod location;
mod merging;
mod nesting;
mod operations;
mod path;
mod persisted;
mod plan;
mod prepare;
mod request_error;
mod response;
mod rules;
mod typed;
mod weight;

pub use call::{Call, Completed, Outcome};
pub use context::Context;
pub use limits::Limits;
pub use operations::{Operation, OperationError, OperationRegistry};

pub(crate) use application::Application;
pub(crate) use cache::DocumentCache;
pub(crate) use coerce::{SentVariables, coerce_literal};
pub(crate) use complete::RowNode;
pub(crate) use context::DataMap;
pub(crate) use execute::{Engine, Methods, Request};
pub(crate) use find::{computed, group_counts, total, typed_rows, typed_slice};
pub(crate) use function::{call, functions};
pub(crate) use operations::{DocumentId, describe_all, read_folder};
pub(crate) use persisted::PersistedQueries;
pub(crate) use plan::{Children, PlanField, PlanKind};
pub(crate) use request_error::RequestError;
pub(crate) use response::{Answer, Response, write_request_errors};
