//! Calls without an admission.

use crate::graphql::complete::root_value;
use crate::graphql::context::ExecutionContext;
use crate::graphql::execute::Prepared;
use crate::graphql::execute::root_field::introspected;
use crate::graphql::find::{EventRow, write_event, write_planned};
use crate::graphql::mutate::function::write_function;
use crate::graphql::mutate::table::write_table;
use crate::graphql::operations::OperationStatement;
use crate::graphql::plan::{Admission, Plan, PlanField, PlanKind, RootField};
use crate::graphql::resolver::{Call, Outcome};
use crate::graphql::response::Path;
use svc_core::schema::{FunctionMeta, PlannedMeta, TypeIndex, WriteMeta};

type Cx<'a> = ExecutionContext<'a>;

async fn planned(
    cx: &Cx<'_>,
    field: &PlanField,
    planned: PlannedMeta,
    row: TypeIndex,
    path: &Path<'_>,
) {
    write_planned(cx, field, planned, row, path).await; //~ E0308 Admission
}

async fn event(cx: &Cx<'_>, field: &PlanField, event: &EventRow<'_>, path: &Path<'_>) {
    write_event(cx, field, event, path).await; //~ E0308 Admission
}

async fn function(cx: &Cx<'_>, field: &PlanField, function: FunctionMeta, path: &Path<'_>) {
    write_function(cx, field, function, path).await; //~ E0308 Admission
}

async fn table(cx: &Cx<'_>, field: &PlanField, write: WriteMeta, row: TypeIndex, path: &Path<'_>) {
    write_table(cx, field, write, row, path).await; //~ E0308 Admission
}

fn what_answers(field: &PlanField) {
    RootField::of(field); //~ E0308 Admission
}

fn the_resolver(field: &PlanField) {
    let PlanKind::Root(root) = field.kind else {
        return;
    };
    root.run; //~ E0616 private
}

fn call(cx: &Cx<'_>, field: &PlanField) {
    let _ = cx.call(field); //~ E0308 Admission
}

fn call_by_hand<'a>(cx: &'a Cx<'a>, field: &PlanField) -> Call<'a> {
    Call::of_root(field, &cx.context, Vec::new()) //~ E0308 Admission
}

async fn resolved(cx: &Cx<'_>, field: &PlanField, outcome: Outcome<'_>, path: &Path<'_>) {
    root_value(cx, field, outcome, path).await; //~ E0308 Admission
}

async fn cached_sql(cx: &Cx<'_>, statement: OperationStatement<'_>, plan: &Plan) {
    statement.run(cx, plan).await; //~ E0308 AllAdmitted
}

async fn cached_sql_by_one<'a>(
    cx: &Cx<'_>,
    statement: OperationStatement<'_>,
    admission: Admission<'a>,
) {
    statement.run(cx, admission).await; //~ E0308 AllAdmitted
}

fn introspection(cx: &Cx<'_>, prepared: &Prepared, field: &PlanField) {
    introspected(cx, prepared, field); //~ E0308 Admission
}

fn an_admission_of_ones_own(field: &PlanField) -> Admission<'_> {
    Admission::new(field, None) //~ E0624 private
}
