//! From a document to bytes: prepare, coerce, gate, execute, complete, write.

mod awaited;
mod cache;
mod coerce;
mod complete;
mod completed_value;
mod document;
mod document_id;
mod effect;
mod error_log;
mod execute;
mod execution_context;
mod field_error;
mod find;
mod function;
mod gated;
mod hooks;
mod identity;
mod introspect;
mod limits;
mod location;
mod merging;
mod mutations;
mod nesting;
mod operations;
mod path;
mod persisted;
mod plan;
mod prepare;
mod question;
mod request_error;
mod resolver;
mod response;
mod rules;
mod scope;
#[cfg(any(svc_unadmitted = "calls", svc_unadmitted = "literals"))]
mod unadmitted;
mod weight;

pub use operations::{Operation, OperationError, OperationRegistry};
pub use resolver::{Call, Completed, Method, Outcome, Resolver, Returns};

pub(crate) use cache::DocumentCache;
pub(crate) use coerce::{SentVariables, coerce_literal};
pub(crate) use document_id::DocumentId;
pub(crate) use execute::{Engine, Request};
pub(crate) use function::functions;
#[cfg(test)]
pub(crate) use hooks::Hook;
pub(crate) use hooks::{Answering, Hooks};
pub(crate) use identity::Challenge;
pub(crate) use operations::{describe_all, read_folder};
pub(crate) use persisted::PersistedQueries;
pub(crate) use request_error::RequestError;
pub(crate) use response::{Answer, Response, write_request_errors};
