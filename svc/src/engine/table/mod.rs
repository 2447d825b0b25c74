//! Mutations that write rows of a table.

mod columns;
mod run;
mod undone;

pub(crate) use columns::{Unwritable, WrittenTable, tables, unwritable, written_tables};

use columns::columns;
use run::TableMutation;

use super::complete::CompletedValue;
use super::execution_context::ExecutionContext;
use super::function::{CallOutcome, Target, checked_arguments, write_outcome};
use super::path::Path;
use super::plan::{Admission, PlanField};
use crate::json::{ExactJson, Fields};
use crate::postgres::{DbError, has_nul};
use crate::schema::{FieldDef, OnFailure, TypeIndex, TypeKind, WriteMeta};
use crate::sql::Subject;
use crate::{Error, ErrorCode};

/// The root type whose fields write.
const ROOT: &str = "Mutation";

/// Answers a root field that writes rows of a table.
pub(crate) async fn write_table(
    cx: &ExecutionContext<'_>,
    admission: &Admission<'_>,
    write: WriteMeta,
    row: TypeIndex,
    path: &Path<'_>,
) -> CompletedValue {
    let field = admission.field();
    let outcome = answer(cx, field, write, row).await;
    write_outcome(cx, field, outcome, path).await
}

/// The JSON of the field's type.
async fn answer(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    write: WriteMeta,
    row: TypeIndex,
) -> Result<CallOutcome, Error> {
    let unknown = || Error::internal(format!("there is no mutation `{}`", field.name));
    let def = cx.model.field(ROOT, &field.name).ok_or_else(unknown)?;
    let (mut items, mut keys) = (Vec::new(), Vec::new());
    for (value, arg) in checked_arguments(cx, field, write.checks, def)?.into_iter().zip(&def.args) {
        let value = value.unwrap_or_default();
        if has_nul(&value) {
            return Err(DbError::Nul.into_error());
        }
        match &cx.model.types[arg.ty.named()].kind {
            TypeKind::Input(_) => items = documents(value),
            _ => keys.push((if arg.rust == "id" { write.key } else { arg.rust.as_str() }, value)),
        }
    }
    let most = cx.limits.max_page as usize;
    if items.len() > most {
        let message = format!("{} rows are given, and at most {most} can be written at once", items.len());
        return Err(Error::new(ErrorCode::BadUserInput, message));
    }
    let db = cx.context.db();
    let is_governed = match &db.rules {
        Some(rules) => rules.rule(Subject::Rows(row))?.is_some(),
        None => false,
    };
    let target = target(field, def, write);
    let columns = columns(cx.model, def, write);
    TableMutation { db, write, row, target, columns, items, keys, is_governed }.run().await
}

/// The documents that an argument holds: one, or a list of them.
fn documents(value: ExactJson) -> Vec<Fields> {
    let items = match value {
        ExactJson::Array(items) => items,
        other => vec![other],
    };
    let document = |item| match item {
        ExactJson::Object(fields) => Some(fields),
        _ => None,
    };
    items.into_iter().filter_map(document).collect()
}

fn target<'a>(field: &'a PlanField, def: &FieldDef, write: WriteMeta) -> Target<'a> {
    Target {
        function: write.table,
        ty: Some(def.ty.named()),
        list: def.ty.is_list(),
        field: Some(field),
        on_failure: OnFailure::Rollback,
        acts_on: None,
    }
}
