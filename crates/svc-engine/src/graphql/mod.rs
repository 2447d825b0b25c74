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
    Call, Completed, EventStream, Events, Method, Outcome, Resolver, Returns, ReturnsBatch, events,
    events_of_result,
};

pub use coerce::{SentVariables, coerce_literal};
pub use complete::CompletedValue;
#[cfg(any(test, fuzzing, feature = "test-support"))]
pub use complete::cursor::fuzz_cursor;
pub use document::persisted::PersistedQueries;
pub use document::{DocumentCache, DocumentId};
pub use error::RequestError;
pub use execute::metrics::{count_refusal, counted_refusal};
pub use execute::{Answered, Hook};
pub use execute::{Answering, Challenge, Engine, Hooks, RegisteredOnly, Request, ResponseKeys};
pub use find::{field_spec, row_functions, row_sources, spec_of};
pub use mutate::function::functions;
pub(crate) use mutate::table::{
    ComputedColumn, Unwritable, computed_columns, nested_rows, tables, unwritable,
};
pub use mutate::table::{WrittenTable, written_tables};
#[cfg(any(test, fuzzing, feature = "test-support"))]
pub use operations::fuzz_manifest;
pub use operations::{OperationProfile, describe_all, read_folder, read_manifests};
pub use plan::PlanField;
pub use response::{Answer, Freshness, Response, write_request_errors};
pub use subscribe::ResponseStream;
#[cfg_attr(
    not(feature = "testing"),
    allow(unreachable_pub, reason = "tests of programs see findings")
)]
pub use view_check::{Finding, Severity};
pub use view_check::{database_needs, findings, findings_beside_nulls, note_findings};
