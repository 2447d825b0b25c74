//! The reads that the completion of values waits for.

mod computed_column_values;
mod relation;

pub(super) use relation::write_relation;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use computed_column_values::write_computed_of_rows;

use super::{write_computed, write_connection, write_find};
use crate::graphql::complete::CompletedValue;
use crate::graphql::context::{ExecutionContext, RowReads};
use crate::graphql::plan::PlanField;
use crate::graphql::resolver::ReturnedQuery;
use crate::graphql::response::Path;
use svc_core::schema::{Relation, RowFunctionMeta};

/// Reads with statements planned from the selection.
pub(crate) struct PlannedReads;

impl RowReads for PlannedReads {
    fn relation<'a>(
        &self,
        cx: &'a ExecutionContext<'a>,
        field: &'a PlanField,
        relation: Relation,
        parents: Vec<(Option<&'a str>, &'a Path<'a>)>,
    ) -> BoxFuture<'a, Vec<CompletedValue>> {
        write_relation(cx, field, relation, parents).boxed()
    }

    fn function<'a>(
        &self,
        cx: &'a ExecutionContext<'a>,
        field: &'a PlanField,
        function: &'static RowFunctionMeta,
        rows: Vec<(Option<&'a str>, &'a Path<'a>)>,
    ) -> BoxFuture<'a, Vec<CompletedValue>> {
        write_computed_of_rows(cx, field, function, rows).boxed()
    }

    fn query<'a>(
        &self,
        cx: &'a ExecutionContext<'a>,
        field: &'a PlanField,
        query: ReturnedQuery,
        path: &'a Path<'a>,
    ) -> BoxFuture<'a, CompletedValue> {
        match query {
            ReturnedQuery::Find(find) => write_find(cx, field, find, path).boxed(),
            ReturnedQuery::Connection(page) => write_connection(cx, field, page, path).boxed(),
            ReturnedQuery::Aggregate(find) => write_computed(cx, field, find, path).boxed(),
        }
    }
}
