//! Mutations that write rows of a table.

mod broken;
mod chosen;
mod columns;
mod computed;
mod level;
mod links;
mod nested;
mod run;
mod taken;
mod tried;
mod undone;
mod upsert;
mod work;
mod writer;

pub(crate) use columns::{Unwritable, nested_rows, tables, unwritable};
pub use columns::{WrittenTable, written_tables};
pub(crate) use computed::{ComputedColumn, computed_columns};

pub(crate) use columns::columns;
use columns::{Column, input_of, nested_fields};

use super::function::{CallOutcome, Target, write_outcome};
use crate::graphql::complete::CompletedValue;
use crate::graphql::context::ExecutionContext;
use crate::graphql::context::function_arguments::checked_arguments;
use crate::graphql::find::argument_filter;
use crate::graphql::plan::{Admission, PlanField};
use crate::graphql::response::Path;
use crate::repository::Db;
use crate::sql::{Filter, Subject, col};
use svc_core::exact_json::{ExactJson, Fields};
use svc_core::scalar::sql_value::SqlValue;
use svc_core::schema::{
    ArgDef, FieldDef, InputDef, Model, OnFailure, Operator, TypeIndex, TypeKind, WriteMeta,
};
use svc_core::{Error, ErrorCode};
use svc_postgres::{DbError, has_nul};

/// The root type whose fields write.
const ROOT: &str = "Mutation";

/// A mutation of a table with its values.
struct TableMutation<'a> {
    db: &'a Db,
    write: WriteMeta,
    /// The type of the rows of the view.
    row: TypeIndex,
    target: Target<'a>,
    columns: Vec<Column<'a>>,
    /// The input object, and the name of its argument.
    input: Option<&'a InputDef>,
    argument: &'a str,
    /// The rows to write, by their columns.
    items: Vec<Fields>,
    /// The columns that select a row, with their values.
    keys: Vec<(&'a str, ExactJson)>,
    /// Whether row policies apply to the type.
    is_governed: bool,
    /// The conditions on keys with masked fields, for the rows as the client sees them.
    masked: Vec<Filter>,
    /// The rows that the client's filter selects, in place of the keys.
    selection: Option<Selection>,
}

/// Rows that the client's filter selects.
struct Selection {
    /// The conditions in all arguments.
    filter: Filter,
    /// The maximum number of rows.
    max_rows: u32,
}

/// Executes a root field that writes rows of a table.
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
    let db = cx.context.db();
    let (mut items, mut keys, mut masked, mut given) = (Vec::new(), Vec::new(), Vec::new(), None);

    for (value, arg) in checked_arguments(cx, field, write.checks, def)?
        .into_iter()
        .zip(&def.args)
    {
        let value = value.unwrap_or_default();

        // PostgreSQL texts cannot contain NUL: the statement would fail, and with it the whole
        // transaction.
        if has_nul(&value) {
            return Err(DbError::Nul.into_error());
        }

        if matches!(cx.model.types[arg.ty.named()].kind, TypeKind::Input(_)) {
            (items, given) = (documents(value), Some(arg));
            continue;
        }

        // Such an argument is one of the conditions of the selection.
        if write.is_by_filter() {
            continue;
        }

        masked.extend(masked_key(db, row, arg, &value));
        let column = match arg.rust.as_str() {
            "id" => write.key,
            column => column,
        };
        keys.push((column, value));
    }

    let selection = selection(cx, field, write, row)?;
    let input = given.and_then(|arg| input_of(cx.model, arg.ty.named()));
    check_rows(cx, input, &items)?;

    let is_governed = match &db.rules {
        Some(rules) => rules.rule(Subject::Rows(row))?.is_some(),
        None => false,
    };

    let target = target(field, def, write);
    let columns = columns(cx.model, def, write);
    let argument = given.map_or("", |arg| arg.name.as_str());

    TableMutation {
        db,
        write,
        row,
        target,
        columns,
        input,
        argument,
        items,
        keys,
        is_governed,
        masked,
        selection,
    }
    .run()
    .await
}

/// Returns the rows that the client's filter selects, if it does.
fn selection(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    write: WriteMeta,
    row: TypeIndex,
) -> Result<Option<Selection>, Error> {
    let Some(max_rows) = write.max_rows(cx.limits.max_page) else {
        return Ok(None);
    };

    Ok(Some(Selection {
        filter: argument_filter(cx, field, row)?,
        max_rows,
    }))
}

/// Returns the condition on a key of the rows, if its field is masked.
fn masked_key(db: &Db, row: TypeIndex, arg: &ArgDef, value: &ExactJson) -> Option<Filter> {
    db.rules.as_ref()?.mask(row, &arg.rust)?;
    let value = SqlValue::from_graphql(&value.clone().into_argument());
    Some(Filter::Compare(col(&arg.rust), Operator::Eq, value))
}

/// Rejects documents with more rows than can be written at once.
fn check_rows(
    cx: &ExecutionContext<'_>,
    input: Option<&InputDef>,
    documents: &[Fields],
) -> Result<(), Error> {
    let most = cx.limits.max_page as usize;
    let rows: usize = documents
        .iter()
        .map(|document| rows(cx.model, input, document))
        .sum();

    if rows > most {
        let message = format!("{rows} rows are given, and at most {most} can be written at once");
        return Err(Error::new(ErrorCode::BadUserInput, message));
    }

    Ok(())
}

/// The number of rows in a document: the row itself, and the nested rows of other tables.
fn rows(model: &Model, input: Option<&InputDef>, document: &Fields) -> usize {
    let held =
        nested_fields(input).filter_map(|(field, _)| Some((field, document.get(&field.rust)?)));
    let held = held.map(|(field, value)| {
        let one = |value: &ExactJson| match value {
            ExactJson::Object(inner) => rows(model, input_of(model, field.ty.named()), inner),
            other => usize::from(!other.is_null()),
        };
        match value {
            ExactJson::Array(items) => items.iter().map(one).sum(),
            value => one(value),
        }
    });

    1 + held.sum::<usize>()
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
