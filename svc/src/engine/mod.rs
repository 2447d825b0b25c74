//! From a document to bytes: prepare, coerce, gate, execute, complete, write.

mod coerce;
mod complete;
mod context;
mod document;
mod error;
mod execute;
mod find;
mod heap_size;
mod mutate;
mod operations;
mod plan;
mod resolver;
mod response;
mod subscribe;
#[cfg_attr(
    not(feature = "testing"),
    allow(unreachable_pub, reason = "tests of programs see findings")
)]
mod view_check;

pub use execute::ResponseCache;
pub use operations::{Operation, OperationError, OperationRegistry};
pub use resolver::{
    Call, Completed, EventStream, Events, Method, Outcome, Resolver, Returns, events,
    events_of_result,
};

pub(crate) use coerce::{SentVariables, coerce_literal};
#[cfg(any(test, fuzzing))]
pub(crate) use complete::cursor::fuzz_cursor;
pub(crate) use document::persisted::PersistedQueries;
pub(crate) use document::{DocumentCache, DocumentId};
pub(crate) use error::RequestError;
#[cfg(test)]
pub(crate) use execute::Hook;
pub(crate) use execute::metrics::{count_refusal, counted_refusal};
pub(crate) use execute::{
    Answering, Challenge, Engine, Hooks, RegisteredOnly, Request, ResponseKeys,
};
pub(crate) use find::{field_spec, row_functions, row_sources, spec_of};
pub(crate) use mutate::function::functions;
pub(crate) use mutate::table::{
    ComputedColumn, Unwritable, WrittenTable, computed_columns, nested_rows, tables, unwritable,
    written_tables,
};
#[cfg(any(test, fuzzing))]
pub(crate) use operations::fuzz_manifest;
pub(crate) use operations::{describe_all, read_folder, read_manifests};
pub(crate) use response::{Answer, Freshness, Response, write_request_errors};
pub(crate) use subscribe::ResponseStream;
#[cfg_attr(
    not(feature = "testing"),
    allow(unreachable_pub, reason = "tests of programs see findings")
)]
pub use view_check::{Finding, Severity};
pub(crate) use view_check::{database_needs, findings, findings_beside_nulls, note_findings};
