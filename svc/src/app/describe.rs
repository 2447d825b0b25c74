//! The program's description of itself, for the CLI `svc`.

use std::fs;

use serde_json::{Value, json};

use super::StartError;
use svc_core::Result;
use svc_core::schema::{
    FieldDef, FieldKind, FieldMeta, InputRole, Model, Place, RowSourceKind, RowSourceMeta, TypeDef,
    TypeExpr, TypeIndex, TypeKind,
};
use svc_engine::graphql::{
    Finding, OperationProfile, OperationRegistry, WrittenTable, field_spec, functions,
    row_functions, row_sources, spec_of, written_tables,
};
use svc_engine::limits::{LimitMode, Limits};
use svc_engine::sql::select_form;
use svc_postgres::{ArgForm, FunctionSpec};

/// The variable with the path of the description file. If it is set, the program writes its
/// description and exits.
pub(super) const VARIABLE: &str = "SVC_DESCRIBE";

/// The format version of the description; the CLI rejects other versions.
const FORMAT: u32 = 3;

/// PostgreSQL types that a column may have, with domains resolved. `OTHER` represents all types
/// without their own form.
const COLUMN_TYPES: [&str; 19] = [
    "bool",
    "int2",
    "int4",
    "int8",
    "float4",
    "float8",
    "numeric",
    "text",
    "varchar",
    "bpchar",
    "name",
    "citext",
    "uuid",
    "timestamptz",
    "timestamp",
    "date",
    "time",
    "json",
    "jsonb",
];
const OTHER: &str = "other";

/// The variable with the URL of a database; the schema is checked against it as at the start of a
/// service.
pub(super) const DATABASE: &str = "SVC_DESCRIBE_DATABASE";

/// Writes the description, with the registered operations and the findings of a start against the
/// database.
pub(super) fn write(
    model: &Model,
    registry: &OperationRegistry,
    limits: &Limits,
    found: Option<Result<Vec<Finding>>>,
    file: &str,
) -> Result<(), StartError> {
    let mut description = describe(model);
    description["limits"] = json!({
        "depth": limits.depth, "complexity": limits.complexity, "max_page": limits.max_page,
        "enforced": limits.mode == LimitMode::Enforce,
    });
    description["operations"] = json!(profiles(model, registry, limits));
    match found {
        Some(Ok(found)) => description["findings"] = found.iter().map(finding).collect(),
        Some(Err(error)) => description["start_error"] = error.message().into(),
        None => {}
    }

    fs::write(file, description.to_string()).map_err(|source| StartError::Describe {
        file: file.to_owned(),
        source,
    })
}

fn describe(model: &Model) -> Value {
    let types: Vec<Value> = model
        .types
        .iter()
        .filter_map(|def| stored_type(model, def))
        .collect();

    let called = functions(model).map(|(field, called, spec)| {
        let types = argument_types(model, field, &spec, called.context.len());
        function(&field.name, called.place, &spec, None, &types)
    });
    let read = of_kind(model, RowSourceKind::Function).map(|(field, row, meta)| {
        let spec = spec_of(model, field, meta);
        let types = argument_types(model, field, &spec, meta.context.len());
        function(&field.name, meta.place, &spec, model.source(row), &types)
    });

    let computed = row_functions(model).map(|(row, field, meta)| {
        let name = format!("{}.{}", model.types[row].name, field.name);
        let spec = field_spec(model, row, field, meta);
        function(
            &name,
            meta.place,
            &spec,
            None,
            &argument_types(model, field, &spec, 0),
        )
    });

    let functions: Vec<Value> = called.chain(read).chain(computed).collect();
    let statements = of_kind(model, RowSourceKind::Sql).map(|(field, row, meta)| {
        json!({ "field": field.name, "place": place(meta.place), "source": model.source(row), "sql": meta.text })
    });
    let statements: Vec<Value> = statements.collect();
    let writes: Vec<Value> = written_tables(model)
        .map(|written| written_table(&written))
        .collect();
    let declared = |def: &&TypeDef| match &def.kind {
        TypeKind::Input(input) => input.role == InputRole::Declared,
        _ => false,
    };

    json!({
        "format": FORMAT,
        "svc": env!("CARGO_PKG_VERSION"),
        "sdl": model.sdl,
        "counts": {
            "types": types.len(),
            "inputs": model.types.iter().filter(declared).count(),
            "schema": model.document.types.values().filter(|ty| !ty.is_built_in()).count(),
        },
        "column_types": COLUMN_TYPES,
        "types": types,
        "functions": functions,
        "statements": statements,
        "writes": writes,
    })
}

/// The profiles of the registered operations, in any order.
fn profiles(model: &Model, registry: &OperationRegistry, limits: &Limits) -> Vec<OperationProfile> {
    registry
        .all()
        .iter()
        .filter_map(|operation| operation.profile(model, limits))
        .collect()
}

fn finding(finding: &Finding) -> Value {
    let Finding {
        severity,
        source,
        field,
        cause,
        remedy,
        ..
    } = finding;
    json!({ "severity": severity.as_str(), "source": source, "field": field, "cause": cause, "remedy": remedy })
}

/// The queries whose row source is of this kind.
fn of_kind(
    model: &Model,
    kind: RowSourceKind,
) -> impl Iterator<Item = (&FieldDef, TypeIndex, &'static RowSourceMeta)> {
    row_sources(model).filter(move |(_, _, meta)| meta.kind == kind)
}

/// A function called by a field; `rows_of` is the view whose rows it returns.
fn function(
    field: &str,
    at: Place,
    spec: &FunctionSpec,
    rows_of: Option<&str>,
    types: &[Option<String>],
) -> Value {
    let arguments: Vec<_> = spec.args.iter().map(argument).collect();
    json!({
        "field": field, "place": place(at), "name": spec.name, "arguments": arguments, "row_of": spec.row_of,
        "rows_of": rows_of, "types": types,
    })
}

/// The GraphQL types of a function's arguments; `None` for the leading context values of the
/// request.
fn argument_types(
    model: &Model,
    field: &FieldDef,
    spec: &FunctionSpec,
    context: usize,
) -> Vec<Option<String>> {
    let given = field.args.iter().map(|arg| Some(shown(model, &arg.ty)));
    std::iter::repeat_n(None, context)
        .chain(given)
        .take(spec.args.len())
        .collect()
}

/// A table written by a mutation.
fn written_table(written: &WrittenTable<'_>) -> Value {
    let WrittenTable {
        field,
        table,
        key,
        columns,
        conflict,
        ..
    } = written;

    let columns: Vec<_> = columns
        .iter()
        .map(|(name, form)| json!({ "name": name, "form": argument(form) }))
        .collect();

    json!({
        "field": field.name, "place": place(written.place), "table": table, "key": key, "columns": columns,
        "conflict": conflict,
    })
}

/// A type whose rows a view contains.
fn stored_type(model: &Model, def: &TypeDef) -> Option<Value> {
    let source = def.kind.source()?;
    let mut fields = Vec::new();
    let place_of_type = match &def.kind {
        TypeKind::Object(object) => {
            let meta = object.declared?;
            fields.extend(
                object
                    .fields
                    .values()
                    .filter_map(|field| stored_field(model, field, meta.fields)),
            );
            meta.place
        }
        TypeKind::Abstract(abstraction) => abstraction.place,
        _ => return None,
    };

    Some(json!({
        "name": def.name, "path": def.path, "place": place(place_of_type), "source": source, "fields": fields,
    }))
}

fn place(place: Place) -> Value {
    json!({ "file": place.file, "line": place.line })
}

/// The form of an argument of a function.
fn argument(form: &ArgForm) -> &'static str {
    match form {
        ArgForm::Text => "scalar",
        ArgForm::List => "list",
        ArgForm::Json => "json",
        ArgForm::Null => "null",
    }
}

/// A field read from a column or a key of `data`, or a relation with the two columns that it joins.
fn stored_field(model: &Model, field: &FieldDef, declared: &[FieldMeta]) -> Option<Value> {
    let ty = shown(model, &field.ty);
    match field.kind {
        FieldKind::Stored { stored, index } => Some(json!({
            "name": field.name, "rust": field.rust, "line": declared[index].line, "non_null": declared[index].non_null,
            "type": ty, "stored": stored, "columns": columns(model, &field.ty),
        })),
        // The fields derived from a relation need nothing of the view beyond the relation's own
        // columns.
        FieldKind::Relation(relation) if !relation.is_derived() => Some(json!({
            "name": field.name, "rust": field.rust, "line": declared[relation.index].line,
            "non_null": declared[relation.index].non_null, "type": ty,
            "relation": {
                "from": relation.from, "to": relation.to, "many": relation.is_many(),
                "through": relation.through.map(|through| json!({
                    "source": through.source, "here": through.here, "there": through.there,
                })),
                "type": model.types[relation.row].name, "source": model.source(relation.row),
            },
        })),
        _ => None,
    }
}

/// The column types that can provide a field; null if any type can, as for lists and embedded
/// objects.
fn columns(model: &Model, ty: &TypeExpr) -> Option<Vec<&'static str>> {
    let kind = match &model.types[ty.named()].kind {
        _ if ty.is_list() => return None,
        TypeKind::Scalar { kind, .. } => Some(*kind),
        TypeKind::Enum(_) => None,
        _ => return None,
    };

    let all = COLUMN_TYPES.into_iter().chain([OTHER]);
    Some(
        all.filter(|column| select_form(column, kind).is_some())
            .collect(),
    )
}

fn shown(model: &Model, ty: &TypeExpr) -> String {
    match ty {
        TypeExpr::Named(index) => model.types[*index].name.clone(),
        TypeExpr::List(inner) => format!("[{}]", shown(model, inner)),
        TypeExpr::NonNull(inner) => format!("{}!", shown(model, inner)),
    }
}
