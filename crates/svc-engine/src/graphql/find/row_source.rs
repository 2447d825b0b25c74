//! Rows from a function or SQL instead of their view.

use std::sync::Arc;

use crate::graphql::context::ExecutionContext;
use crate::graphql::context::function_arguments::{checked_arguments, form};
use crate::graphql::plan::PlanField;
use crate::request::ContextValues;
use svc_core::Error;
use svc_core::exact_json::ExactJson;
use svc_core::schema::{FieldDef, FieldKind, Model, RowSourceKind, RowSourceMeta, Run, TypeIndex};
use svc_postgres::{ArgForm, DbError, FunctionSpec, RowsCall, has_nul};

/// The root type of queries.
const ROOT: &str = "Query";

/// Returns the queries whose rows do not come from their view: the field, the type of the rows, and
/// the source of the rows.
pub fn row_sources(
    model: &Model,
) -> impl Iterator<Item = (&FieldDef, TypeIndex, &'static RowSourceMeta)> {
    let root = model
        .type_named(ROOT)
        .and_then(|(index, _)| model.object(index));
    root.into_iter()
        .flat_map(|root| root.fields.values())
        .filter_map(|field| match field.kind {
            FieldKind::Root(Run::Planned(planned), Some(row), _) => {
                Some((field, row, planned.source?))
            }
            _ => None,
        })
}

/// Returns the source that a root field reads instead of the view, if it has one.
pub(crate) fn row_source(model: &Model, field: &PlanField) -> Option<&'static RowSourceMeta> {
    match model.field(ROOT, &field.name)?.kind {
        FieldKind::Root(Run::Planned(planned), ..) => planned.source,
        _ => None,
    }
}

/// Returns the signature for the call of a function that returns rows.
pub fn spec_of(model: &Model, field: &FieldDef, source: &RowSourceMeta) -> FunctionSpec {
    let context = source.context.iter().map(|_| ArgForm::Text);

    // The parameters of the function come first; `where`, `orderBy` and the page follow them.
    let given = field.args.iter().take(source.checks.len());
    let args = context
        .chain(given.map(|arg| form(&model.types, &arg.ty)))
        .collect();

    FunctionSpec {
        name: source.text.to_owned(),
        row_of: None,
        args,
    }
}

/// Returns the source of a field's rows, with the arguments of the request.
pub(super) async fn rows_call(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    source: &RowSourceMeta,
    row: TypeIndex,
) -> Result<Arc<RowsCall>, Error> {
    let unknown = || Error::internal(format!("there is no query `{}`", field.name));
    let def = cx.model.field(ROOT, &field.name).ok_or_else(unknown)?;
    let mut args = Vec::with_capacity(source.context.len() + source.checks.len());

    for name in source.context {
        let value = cx
            .context
            .data::<ContextValues>()?
            .take(name, &cx.context)?;
        args.push(Some(value.map_or(ExactJson::Null, ExactJson::String)));
    }

    args.extend(checked_arguments(cx, field, source.checks, def)?);
    if args.iter().flatten().any(has_nul) {
        return Err(DbError::Nul.into_error());
    }

    let call = match source.kind {
        RowSourceKind::Sql => RowsCall::of_sql(source.text, args),
        RowSourceKind::Function => {
            of_function(cx, &spec_of(cx.model, def, source), row, &args).await?
        }
    };

    Ok(Arc::new(call))
}

async fn of_function(
    cx: &ExecutionContext<'_>,
    spec: &FunctionSpec,
    row: TypeIndex,
    args: &[Option<ExactJson>],
) -> Result<RowsCall, Error> {
    let function = cx
        .database
        .function(spec)
        .await
        .map_err(DbError::into_error)?;

    let catalog = cx.database.catalog().await.map_err(DbError::into_error)?;
    let source = cx.model.source(row).and_then(|name| catalog.source(name));
    let source = source
        .ok_or_else(|| DbError::UnknownSource(cx.model.types[row].path.clone()).into_error())?;

    function.rows(source, args).map_err(|why| {
        // The function may have changed since the catalog was read; if so, later requests succeed.
        cx.database.may_have_changed();
        DbError::UnknownFunction(why).into_error()
    })
}
