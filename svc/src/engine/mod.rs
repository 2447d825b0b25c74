//! From a document to bytes: prepare, coerce, gate, execute, complete, write.

mod answer_bytes;
mod awaited;
mod cache;
mod coerce;
mod complete;
mod completed_value;
mod cursor;
mod database_needs;
mod diagnostics;
mod document;
mod document_id;
mod effect;
mod error_log;
mod execute;
mod execution_context;
mod explanation;
mod field_error;
mod find;
mod freshness;
mod function;
mod function_arguments;
mod gated;
mod hooks;
mod identity;
mod introspect;
mod limits;
mod location;
mod measure;
mod merging;
mod mutations;
mod nesting;
mod one_of;
mod operations;
mod path;
mod persisted;
mod plan;
mod prepare;
mod question;
mod report;
mod request_error;
mod resolver;
mod response;
mod rules;
mod scope;
mod security_events;
#[cfg(feature = "redis")]
mod shared_persisted;
mod spending;
mod subscribe;
mod table;
#[cfg(any(svc_unadmitted = "calls", svc_unadmitted = "literals"))]
mod unadmitted;
mod value_rules;
#[cfg_attr(
    not(feature = "testing"),
    allow(unreachable_pub, reason = "tests of programs see findings")
)]
mod view_check;
mod weight;

pub use execute::ResponseCache;
pub use operations::{Operation, OperationError, OperationRegistry};
pub use resolver::{
    Call, Completed, EventStream, Events, Method, Outcome, Resolver, Returns, events,
    events_of_result,
};

pub(crate) use cache::DocumentCache;
pub(crate) use coerce::{SentVariables, coerce_literal};
#[cfg(any(test, fuzzing))]
pub(crate) use cursor::fuzz_cursor;
pub(crate) use database_needs::database_needs;
pub(crate) use document_id::DocumentId;
pub(crate) use execute::{Engine, RegisteredOnly, Request, ResponseKeys};
pub(crate) use find::{field_spec, row_functions, row_sources, spec_of};
pub(crate) use freshness::Freshness;
pub(crate) use function::functions;
#[cfg(test)]
pub(crate) use hooks::Hook;
pub(crate) use hooks::{Answering, Hooks};
pub(crate) use identity::Challenge;
pub(crate) use measure::{count_refusal, counted_refusal};
#[cfg(any(test, fuzzing))]
pub(crate) use operations::fuzz_manifest;
pub(crate) use operations::{describe_all, read_folder, read_manifests};
pub(crate) use persisted::PersistedQueries;
pub(crate) use request_error::RequestError;
pub(crate) use response::{Answer, Response, write_request_errors};
pub(crate) use subscribe::ResponseStream;
pub(crate) use table::{
    ComputedColumn, Unwritable, WrittenTable, computed_columns, nested_rows, tables, unwritable,
    written_tables,
};
#[cfg_attr(
    not(feature = "testing"),
    allow(unreachable_pub, reason = "tests of programs see findings")
)]
pub use view_check::{Finding, Severity};
pub(crate) use view_check::{findings, findings_beside_nulls, note_findings};
