//! Planned rows: turns a field's selection and arguments into one statement, and its rows into
//! bytes of the response.

mod aggregate;
mod argument_rules;
mod columns;
mod computed_column;
mod conditions;
mod connection;
mod event;
mod nodes;
mod read;
mod row_reads;
mod row_source;
mod rows;
mod statement_cache;

pub(crate) use aggregate::{computed, group_counts};
pub(crate) use argument_rules::check_arguments;
pub(crate) use columns::call_fault;
pub use computed_column::{field_spec, row_functions};
pub(crate) use connection::{total, typed_slice};
pub(crate) use event::{EventFilter, EventRow, write_event};
pub(crate) use nodes::write_nodes;
pub(in crate::graphql) use read::{argument_filter, default_key};
pub(crate) use row_reads::PlannedReads;
use row_reads::write_relation;
pub(crate) use row_source::row_source;
pub use row_source::{row_sources, spec_of};
pub(crate) use rows::{read_row, typed_rows};
pub(in crate::graphql) use rows::{stored_fields, typed_statement, wanted_rows};

use std::sync::Arc;

use aggregate::write_aggregate;
use connection::write_page;
use read::{PageRead, Read};
use row_source::rows_call;
use rows::write_read;

use super::complete::CompletedValue;
use super::context::ExecutionContext;
use super::plan::{Admission, PlanField};
use super::response::Path;
use crate::repository::{ConnectionSpec, FindSpec};
use svc_core::Error;
use svc_core::schema::{PlannedMeta, Shape, TypeIndex};
use svc_core::task::boxed::boxed_unmoved;
use svc_postgres::{DbError, RowsCall};

/// Resolves a root field without a body. All paths except the common list are boxed, to keep the
/// future of a list small: it is moved for each request.
pub(crate) async fn write_planned(
    cx: &ExecutionContext<'_>,
    admission: &Admission<'_>,
    planned: PlannedMeta,
    row: TypeIndex,
    path: &Path<'_>,
) -> CompletedValue {
    let field = admission.field();
    let from = match planned.source {
        None => None,
        Some(source) => match boxed_unmoved(|| rows_call(cx, field, source, row)).await {
            Ok(call) => Some(call),
            Err(error) => return CompletedValue::failed(cx, &error, field, path),
        },
    };

    if matches!(planned.shape, Shape::Connection | Shape::Aggregate) {
        return boxed_unmoved(|| write_whole(cx, field, planned, row, from, path)).await;
    }

    match Read::planned(cx, field, planned.shape, row) {
        Ok(mut read) => {
            // Changed in place, because it is large to move.
            read.from = from;
            read.add_default_order(planned.order);
            write_read(cx, field, &read, path).await
        }
        Err(error) => CompletedValue::failed(cx, &error.into_error(), field, path),
    }
}

/// Resolves a connection or an aggregate without a body.
async fn write_whole(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    planned: PlannedMeta,
    row: TypeIndex,
    from: Option<Arc<RowsCall>>,
    path: &Path<'_>,
) -> CompletedValue {
    let value = if planned.shape == Shape::Connection {
        match Read::connection(cx, field, row) {
            Ok(PageRead { read, page }) => {
                let read = read.reading_from(from).by_default(planned.order);
                page_following(cx, field, PageRead { read, page }, path).await
            }
            Err(error) => Err(error),
        }
    } else {
        match Read::planned(cx, field, planned.shape, row) {
            Ok(read) => aggregate_following(cx, field, read.reading_from(from), path).await,
            Err(error) => Err(error),
        }
    };

    value.unwrap_or_else(|error| CompletedValue::failed(cx, &error.into_error(), field, path))
}

async fn page_following(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    page: PageRead,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    let page = &page;
    cx.database
        .following(|| write_page(cx, field, page.clone(), path))
        .await
}

async fn aggregate_following(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    read: Read,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    let read = &read;
    cx.database
        .following(|| write_aggregate(cx, field, read, path))
        .await
}

/// Completes a field whose resolver returned a page.
async fn write_connection(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    spec: ConnectionSpec,
    path: &Path<'_>,
) -> CompletedValue {
    let value = match Read::all(cx.context.db(), spec.find) {
        Ok(read) => {
            page_following(
                cx,
                field,
                PageRead {
                    read,
                    page: spec.page,
                },
                path,
            )
            .await
        }
        Err(error) => Err(error),
    };

    value.unwrap_or_else(|error| CompletedValue::failed(cx, &error.into_error(), field, path))
}

/// Completes a field whose resolver returned aggregates.
async fn write_computed(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    find: FindSpec,
    path: &Path<'_>,
) -> CompletedValue {
    let value = match Read::all(cx.context.db(), find) {
        Ok(read) => aggregate_following(cx, field, read, path).await,
        Err(error) => Err(error),
    };
    value.unwrap_or_else(|error| CompletedValue::failed(cx, &error.into_error(), field, path))
}

/// Completes a field whose resolver returned a query.
async fn write_find(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    find: FindSpec,
    path: &Path<'_>,
) -> CompletedValue {
    let read = Read::find(
        cx.context.db(),
        cx.limits,
        find,
        if field.ty.is_list() {
            Shape::List
        } else {
            Shape::Optional
        },
    );

    match read {
        Ok(read) => write_read(cx, field, &read, path).await,
        Err(error) => CompletedValue::failed(cx, &error.into_error(), field, path),
    }
}

#[cold]
fn not_found(field: &PlanField) -> Error {
    Error::with_code("NOT_FOUND", format!("`{}` found no row", field.name))
}
