//! Arguments of functions: JSON with the Rust names as keys and enum values in their stored form.

use async_graphql::Value;

use super::ExecutionContext;
use crate::graphql::plan::PlanField;
use crate::graphql::resolver::refused;
use svc_core::Error;
use svc_core::exact_json::ExactJson as Json;
use svc_core::schema::{Check, FieldDef, Model, ScalarKind, TypeDef, TypeExpr, TypeKind};
use svc_postgres::ArgForm;

/// Returns the form of an argument of this type.
pub(crate) fn form(types: &[TypeDef], ty: &TypeExpr) -> ArgForm {
    match ty {
        TypeExpr::NonNull(inner) => form(types, inner),
        TypeExpr::List(inner) => match form(types, inner) {
            ArgForm::Text => ArgForm::List,
            // PostgreSQL arrays are rectangular and lists of lists need not be, so these are JSON.
            _ => ArgForm::Json,
        },
        TypeExpr::Named(index) => match &types[*index].kind {
            TypeKind::Enum(_) => ArgForm::Text,
            TypeKind::Scalar { kind, .. } if *kind != ScalarKind::Json => ArgForm::Text,
            _ => ArgForm::Json,
        },
    }
}

/// Returns the form of a value from its JSON alone.
pub(crate) fn form_of_json(json: &Json) -> ArgForm {
    match json {
        Json::Null => ArgForm::Null,
        Json::Object(_) => ArgForm::Json,
        Json::Array(items)
            if items
                .iter()
                .any(|item| matches!(item, Json::Object(_) | Json::Array(_))) =>
        {
            ArgForm::Json
        }
        Json::Array(_) => ArgForm::List,
        _ => ArgForm::Text,
    }
}

/// Converts a coerced value to JSON.
pub(crate) fn argument_json(model: &Model, ty: &TypeExpr, value: Value) -> Json {
    match (ty, value) {
        (_, Value::Null) => Json::Null,
        (TypeExpr::NonNull(inner), value) => argument_json(model, inner, value),
        (TypeExpr::List(inner), Value::List(items)) => Json::Array(
            items
                .into_iter()
                .map(|item| argument_json(model, inner, item))
                .collect(),
        ),
        (TypeExpr::Named(index), value) => named(model, &model.types[*index].kind, value),
        (TypeExpr::List(_), value) => Json::of_argument(value),
    }
}

fn named(model: &Model, kind: &TypeKind, value: Value) -> Json {
    match (kind, value) {
        (TypeKind::Enum(def), Value::Enum(name)) => {
            let stored = def
                .values
                .iter()
                .find(|value| value.name == name.as_str())
                .map(|value| value.stored);
            Json::String(stored.unwrap_or(name.as_str()).to_owned())
        }
        (TypeKind::Input(input), Value::Object(fields)) => {
            let field = |(name, value): (async_graphql::Name, Value)| {
                let def = input.fields.values().find(|def| def.rust == name.as_str());
                let json = match def {
                    Some(def) => argument_json(model, &def.ty, value),
                    None => Json::of_argument(value),
                };
                (name.to_string(), json)
            };
            fields.into_iter().map(field).collect()
        }
        (_, value) => Json::of_argument(value),
    }
}

/// The arguments as JSON with the stored names, after checking that their Rust types accept them.
pub(crate) fn checked_arguments(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    checks: &[Check],
    def: &FieldDef,
) -> Result<Vec<Option<Json>>, Error> {
    let values = cx
        .arguments(&field.args)?
        .into_iter()
        .zip(checks)
        .zip(&def.args);

    // The Rust type checks the numbers as `serde_json` holds them, but the function gets all digits
    // that the client sent.
    let checked = values.map(|((value, check), arg)| {
        check(value.clone().map(Json::without_digits))
            .map_err(|error| refused(&arg.name, &error))?;
        Ok(value.map(|value| argument_json(cx.model, &arg.ty, value)))
    });

    checked.collect()
}
