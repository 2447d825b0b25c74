//! Mutations that call a function of the database.

mod acted_row;
mod decoded;
mod entity;
mod given;
mod member;
mod outcome;

use acted_row::ActedRow;
use decoded::Decoded;
pub(super) use entity::is_governed;
pub(super) use given::id_of;
use outcome::call_function;
pub(super) use outcome::{CallOutcome, Target, fail, succeed};

use crate::graphql::complete::{CompletedValue, Found, complete_value, write_json, write_partial};
use crate::graphql::context::ExecutionContext;
use crate::graphql::context::function_arguments::{checked_arguments, form, form_of_json};
use crate::graphql::plan::{Admission, Calls, Children, PlanField, Selection};
use crate::graphql::response::Path;
use crate::repository::Db;
use crate::request::ContextValues;
use svc_core::Error;
use svc_core::exact_json::ExactJson;
use svc_core::schema::{FieldDef, FieldKind, FromStored, FunctionMeta, Model, OnFailure, Run};
use svc_postgres::{ArgForm, FunctionSpec};

/// The root type whose fields call functions.
const ROOT: &str = "Mutation";

/// Executes a root field that calls a function.
pub(crate) async fn write_function(
    cx: &ExecutionContext<'_>,
    admission: &Admission<'_>,
    function: FunctionMeta,
    path: &Path<'_>,
) -> CompletedValue {
    let field = admission.field();
    let outcome = answer(cx, field, function).await;
    write_outcome(cx, field, outcome, path).await
}

/// Completes the outcome of a mutation without a body.
pub(super) async fn write_outcome(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    outcome: Result<CallOutcome, Error>,
    path: &Path<'_>,
) -> CompletedValue {
    match outcome {
        Ok(CallOutcome { json, unread: None }) => complete(cx, field, &json, path).await,
        Ok(CallOutcome {
            json,
            unread: Some(unread),
        }) => CompletedValue::walk_into(cx, (field, path), 0, |walk, out| {
            write_partial(walk, field, &json, &unread, path, out)
        }),
        Err(error) => CompletedValue::failed(cx, &error, field, path),
    }
}

/// The JSON of the field's type.
async fn answer(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    function: FunctionMeta,
) -> Result<CallOutcome, Error> {
    let unknown = || Error::internal(format!("there is no mutation `{}`", field.name));
    let def = cx.model.field(ROOT, &field.name).ok_or_else(unknown)?;
    let args = arguments(cx, field, function, def)?;
    let db = cx.context.db();
    let list = def.ty.is_list();

    // The position of the argument does not count the context's values.
    let given = &args[function.context.len()..];
    let acts_on = function
        .acts_on
        .map_or(Ok(None), |acts_on| ActedRow::of(db, acts_on, given))?;
    let (function, on_failure) = (function.name, function.on_failure);
    let target = Target {
        function,
        ty: Some(def.ty.named()),
        list,
        field: Some(field),
        on_failure,
        acts_on,
    };

    call_function(db, &target, &args).await
}

/// The context's values, then the arguments, as JSON with the stored names.
fn arguments(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    function: FunctionMeta,
    def: &FieldDef,
) -> Result<Vec<(ArgForm, Option<ExactJson>)>, Error> {
    let mut args = Vec::with_capacity(function.context.len() + field.args.len());
    for name in function.context {
        let value = cx
            .context
            .data::<ContextValues>()?
            .take(name, &cx.context)?;
        args.push((
            ArgForm::Text,
            Some(value.map_or(ExactJson::Null, ExactJson::String)),
        ));
    }

    for (value, arg) in checked_arguments(cx, field, function.checks, def)?
        .into_iter()
        .zip(&def.args)
    {
        args.push((form(&cx.model.types, &arg.ty), value));
    }

    Ok(args)
}

/// Completes the JSON like any stored JSON; methods get the user's types.
async fn complete(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    json: &str,
    path: &Path<'_>,
) -> CompletedValue {
    if calls(cx.model, field, json) == Calls::None {
        return CompletedValue::walk_into(cx, (field, path), json.len(), |walk, out| {
            write_json(walk, field, json, path, out)
        });
    }

    let decoded = match Decoded::read(cx.model, field, json) {
        Ok(decoded) => decoded,
        Err(error) => return CompletedValue::failed(cx, &error, field, path),
    };

    complete_value(cx, field, Found::Value(decoded.resolve()), path).await
}

/// Returns the methods and relations below the result. If there are several possible members, only
/// the returned one counts: methods of other members do not require reading this one into its type.
fn calls(model: &Model, field: &PlanField, json: &str) -> Calls {
    #[derive(serde::Deserialize)]
    struct Named {
        #[serde(rename = "__typename")]
        name: String,
    }

    let member = || {
        let named: Named = serde_json::from_str(json).ok()?;
        field
            .children
            .of(model.type_named(&named.name)?.0)
            .map(AsRef::as_ref)
    };

    match &field.children {
        Children::Any(_) => member().map_or_else(|| field.children.waits(), Selection::waits),
        children => children.waits(),
    }
}

/// Calls a function for a resolver.
pub(crate) async fn call<T: FromStored>(
    db: &Db,
    on_failure: OnFailure,
    function: &str,
    args: Vec<serde_json::Value>,
) -> Result<T, Error> {
    let args = args
        .into_iter()
        .map(ExactJson::from)
        .map(|arg| (form_of_json(&arg), Some(arg)));
    let args: Vec<_> = args.collect();
    let ty = T::row_type().and_then(|row| db.app.model.by_rust.get(&row).copied());
    let list = T::IS_LIST;
    let outcome = call_function(
        db,
        &Target {
            function,
            ty,
            list,
            field: None,
            on_failure,
            acts_on: None,
        },
        &args,
    )
    .await?;

    match outcome.unread {
        Some(unread) => Err(unread.into_error()),
        None => Ok(T::from_stored(ExactJson::read(&outcome.json)?)?),
    }
}

/// The mutations that call functions: the field, the function, and how it is called.
pub fn functions(model: &Model) -> impl Iterator<Item = (&FieldDef, FunctionMeta, FunctionSpec)> {
    let root = model
        .type_named(ROOT)
        .and_then(|(index, _)| model.object(index));
    root.into_iter()
        .flat_map(|root| root.fields.values())
        .filter_map(|field| {
            let FieldKind::Root(Run::Function(function), ..) = field.kind else {
                return None;
            };

            let context = function.context.iter().map(|_| ArgForm::Text);
            let args = context
                .chain(field.args.iter().map(|arg| form(&model.types, &arg.ty)))
                .collect();

            Some((
                field,
                function,
                FunctionSpec {
                    name: function.name.to_owned(),
                    row_of: None,
                    args,
                },
            ))
        })
}
