//! Calls of the functions that compute fields of rows.

use std::sync::Arc;

use async_graphql::{Name, Value};
use indexmap::IndexMap;

use crate::graphql::context::ExecutionContext;
use crate::graphql::context::function_arguments::{argument_json, form};
use crate::graphql::plan::PlanField;
use crate::graphql::resolver::refused;
use crate::sql::ComputedColumnCall;
use svc_core::Error;
use svc_core::exact_json::ExactJson;
use svc_core::schema::{FieldDef, FieldKind, Model, RowFunctionMeta, TypeIndex};
use svc_postgres::{ColumnType, DbError, FunctionSpec, has_nul};

/// Returns the fields computed by functions of rows, each with the row type and the function.
pub fn row_functions(
    model: &Model,
) -> impl Iterator<Item = (TypeIndex, &FieldDef, &'static RowFunctionMeta)> {
    let objects = (0..model.types.len()).filter_map(|index| Some((index, model.object(index)?)));
    objects.flat_map(|(index, object)| {
        object
            .fields
            .values()
            .filter_map(move |field| Some((index, field, function_of(field)?)))
    })
}

/// Returns the function that computes a field.
fn function_of(field: &FieldDef) -> Option<&'static RowFunctionMeta> {
    match field.kind {
        FieldKind::Function(function, _) => Some(function),
        _ => None,
    }
}

/// Returns the field with the Rust name `rust`, if a function of rows computes it, and the
/// function.
pub(super) fn computed_field<'m>(
    model: &'m Model,
    object: TypeIndex,
    rust: &str,
) -> Option<(&'m FieldDef, &'static RowFunctionMeta)> {
    let field = model
        .object(object)?
        .fields
        .values()
        .find(|field| field.rust == rust)?;
    Some((field, function_of(field)?))
}

/// Returns the signature for the call of a field's function.
pub fn field_spec(
    model: &Model,
    row: TypeIndex,
    field: &FieldDef,
    function: &RowFunctionMeta,
) -> FunctionSpec {
    FunctionSpec {
        name: function.name.to_owned(),
        row_of: model.source(row).map(str::to_owned),
        args: field
            .args
            .iter()
            .map(|arg| form(&model.types, &arg.ty))
            .collect(),
    }
}

/// Returns the call for a selected field.
pub(super) fn selected_call(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    function: &RowFunctionMeta,
) -> Result<Arc<ComputedColumnCall>, DbError> {
    let unknown = || {
        DbError::refused(Error::internal(format!(
            "there is no field `{}`",
            field.coordinate
        )))
    };

    let (row, name) = field.coordinate.split_once('.').ok_or_else(unknown)?;
    let (row, _) = cx.model.type_named(row).ok_or_else(unknown)?;
    let def = cx
        .model
        .object(row)
        .and_then(|object| object.fields.get(name))
        .ok_or_else(unknown)?;

    let given = cx.arguments(&field.args).map_err(DbError::refused)?;

    call(cx.model, row, (def, function), given)
        .map(Arc::new)
        .map_err(DbError::refused)
}

/// Returns the call in a condition or an order; the arguments have Rust names.
pub(super) fn asked_call(
    model: &Model,
    row: TypeIndex,
    (def, function): (&FieldDef, &RowFunctionMeta),
    given: Option<&IndexMap<Name, Value>>,
) -> Result<Arc<ComputedColumnCall>, Error> {
    let default =
        |arg: &svc_core::schema::ArgDef| arg.default.as_ref().map(|default| default.value.clone());
    let values = def.args.iter().map(|arg| match given {
        // Coercion has already added the defaults of absent fields to a given object.
        Some(given) => given.get(arg.rust.as_str()).cloned(),
        None => default(arg),
    });
    call(model, row, (def, function), values.collect()).map(Arc::new)
}

fn call(
    model: &Model,
    row: TypeIndex,
    (def, function): (&FieldDef, &RowFunctionMeta),
    given: Vec<Option<Value>>,
) -> Result<ComputedColumnCall, Error> {
    let mut args = Vec::with_capacity(given.len());
    for ((value, check), arg) in given.into_iter().zip(function.checks).zip(&def.args) {
        check(value.clone().map(ExactJson::without_digits))
            .map_err(|error| refused(&arg.name, &error))?;
        args.push(value.map(|value| argument_json(model, &arg.ty, value)));
    }

    // PostgreSQL has no NUL in texts, and its error would fail all fields of the statement.
    if args.iter().flatten().any(has_nul) {
        return Err(DbError::Nul.into_error());
    }

    let spec = field_spec(model, row, def, function);

    Ok(ComputedColumnCall {
        spec,
        row,
        named: def.ty.named(),
        list: def.ty.is_list(),
        args,
    })
}

/// Returns the error for a function whose result does not fit the field's type.
pub(super) fn unfit(function: &str, result: &ColumnType) -> DbError {
    DbError::UnknownFunction(format!(
        "`{function}` gives {}, which does not fit its field",
        result.sql
    ))
}
