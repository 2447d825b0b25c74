//! Checks the arguments and the return type of mutations that write to a table.

use std::collections::HashSet;

use super::nested;
use crate::schema::assembly::fields::stored_fields;
use crate::schema::model::{
    ArgDef, FieldDef, FieldKind, Gated, InputDef, InputRole, TypeDef, TypeExpr, TypeIndex,
    TypeKind, gate_of_stored,
};
use crate::schema::{ResultMember, ResultMeta, ScalarKind, WriteMeta, WriteVerb};

/// The field of a result's member that contains the entity.
pub(in crate::schema::assembly) fn entity<'t>(
    types: &'t [TypeDef],
    member: &ResultMember,
) -> Option<&'t FieldDef> {
    let def = types.iter().find(|def| def.name == member.name)?;
    let TypeKind::Object(object) = &def.kind else {
        return None;
    };

    let is_stored = |field: &FieldDef| matches!(field.kind, FieldKind::Stored { .. });
    object
        .fields
        .values()
        .find(|field| is_stored(field) && Some(field.rust) == member.entity)
}

/// The entity field of an error, if it is a scalar or an enum, which cannot contain an entity. JSON
/// can contain any.
pub(in crate::schema::assembly) fn plain_entity<'t>(
    types: &'t [TypeDef],
    result: &ResultMeta,
) -> Option<&'t FieldDef> {
    entity(types, &result.error).filter(|field| match &types[field.ty.named()].kind {
        TypeKind::Scalar { kind, .. } => *kind != ScalarKind::Json,
        TypeKind::Enum(_) => true,
        _ => false,
    })
}

/// The reason why the mutation does not fit, if there is one.
pub(in crate::schema::assembly) fn check(
    types: &[TypeDef],
    write: WriteMeta,
    args: &[ArgDef],
    rows: &TypeExpr,
) -> Option<String> {
    if types[rows.named()].kind.source().is_none() {
        return Some(
            "what is written is read again from a view; answer with a type that has a `sql_source`"
                .to_owned(),
        );
    }

    let has_id = |kind: &FieldKind| matches!(kind, FieldKind::Stored { stored: "id", .. });
    if !stored_fields(types, rows.named())
        .iter()
        .any(|field| has_id(&field.kind))
    {
        return Some(
            "what is written is read again by its `id`; give the type that it answers with such a field".to_owned(),
        );
    }

    let (inputs, keys): (Vec<_>, Vec<_>) = args.iter().partition(|arg| input(types, arg).is_some());
    if write.is_by_filter() {
        return by_filter(types, write, rows, (inputs.as_slice(), keys.as_slice()));
    }

    match (write.verb, inputs.as_slice(), keys.as_slice()) {
        (WriteVerb::Insert | WriteVerb::Upsert, [one], []) => {
            if one.ty.is_list() != rows.is_list() {
                return Some(format!("take `{}` as a list exactly where a list is answered with", one.rust));
            }
            columns(types, write, one)
        }
        (WriteVerb::Insert | WriteVerb::Upsert, ..) => Some(
            "take one input object with the columns as its fields, or a `Vec` of them, and nothing else".to_owned(),
        ),
        (WriteVerb::Update | WriteVerb::Delete, ..) if rows.is_list() || args.iter().any(|arg| arg.ty.is_list()) => {
            Some("an update or a delete is of one row; take and answer with no list".to_owned())
        }
        (WriteVerb::Update, [one], [_, ..]) => chosen(types, &keys).or_else(|| columns(types, write, one)),
        (WriteVerb::Update, ..) => {
            Some("take the columns that choose the row, such as `id: Uuid`, and one input object".to_owned())
        }
        (WriteVerb::Delete, [], [_, ..]) => chosen(types, &keys),
        (WriteVerb::Delete, ..) => {
            Some("take the columns that choose the row, such as `id: Uuid`, and nothing else".to_owned())
        }
    }
}

/// The reason why an update or a delete of the rows that a filter selects does not fit, if there is
/// one.
fn by_filter(
    types: &[TypeDef],
    write: WriteMeta,
    rows: &TypeExpr,
    (inputs, keys): (&[&ArgDef], &[&ArgDef]),
) -> Option<String> {
    if !rows.is_list() {
        let why = "a filter selects any number of rows; answer with a list, such as `Vec<Product>`";
        return Some(why.to_owned());
    }

    if keys.iter().chain(inputs).any(|arg| arg.ty.is_list()) {
        return Some("a filter selects the rows; take no list beside it".to_owned());
    }

    match (write.verb, inputs) {
        (WriteVerb::Update, [one]) => chosen(types, keys)
            .or_else(|| same_for_all(types, write, one))
            .or_else(|| columns(types, write, one)),
        (WriteVerb::Update, _) => Some("take one input object with what is new".to_owned()),
        (WriteVerb::Delete, []) => chosen(types, keys),
        (WriteVerb::Delete, _) => Some("a delete takes no input object".to_owned()),
        (WriteVerb::Insert | WriteVerb::Upsert, _) => {
            Some("only an update or a delete is of rows that a filter selects".to_owned())
        }
    }
}

/// Checks that all selected rows can get the values of an input object.
fn same_for_all(types: &[TypeDef], write: WriteMeta, arg: &ArgDef) -> Option<String> {
    let fields = || {
        input(types, arg)
            .into_iter()
            .flat_map(|input| input.fields.values())
    };
    let holder = types[arg.ty.named()].path.as_str();

    if let Some(nested) = fields().find(|field| field.nested.is_some()) {
        return Some(format!(
            "`{holder}::{}` writes rows of another table, and an update of the rows that a filter selects writes only \
             these; take an input without this field",
            nested.rust
        ));
    }

    let key = fields().find(|field| field.rust == write.key)?;
    Some(format!(
        "`{holder}::{}` is the key, which differs between the rows that a filter selects; take an input without this field",
        key.rust
    ))
}

/// Gates the arguments that select the row, because they reveal whether a row with such a value
/// exists. Returns the name of an argument that selects by several gated values, if there is one.
pub(in crate::schema::assembly) fn gate_keys(
    types: &[TypeDef],
    write: WriteMeta,
    row: TypeIndex,
    args: &mut [ArgDef],
) -> Option<String> {
    let mut two = None;
    for arg in args {
        let gates: HashSet<Gated> = match input(types, arg) {
            None => gate_of_stored(types, row, &arg.rust).into_iter().collect(),
            // A column missing from the input has the table's default, so the client does not
            // select rows by it.
            Some(input) => {
                let has =
                    |column: &&&str| input.fields.values().any(|field| field.rust == **column);
                let given = write.conflict.iter().filter(has);
                given
                    .filter_map(|column| gate_of_stored(types, row, column))
                    .collect()
            }
        };

        // An argument has one gate, so the other values would be revealed without a decision.
        if gates.len() > 1 {
            two = Some(arg.rust.clone());
        }

        arg.gated = gates.into_iter().next();
    }

    two
}

/// The input object of an argument, either by itself or as the items of a list.
pub(in crate::schema::assembly) fn input<'t>(
    types: &'t [TypeDef],
    arg: &ArgDef,
) -> Option<&'t InputDef> {
    match &types[arg.ty.named()].kind {
        TypeKind::Input(input) => Some(input),
        _ => None,
    }
}

/// Checks that the arguments that select the row are required and single values.
fn chosen(types: &[TypeDef], keys: &[&ArgDef]) -> Option<String> {
    let is_value = |arg: &ArgDef| {
        arg.ty.is_non_null()
            && matches!(
                types[arg.ty.named()].kind,
                TypeKind::Scalar { .. } | TypeKind::Enum(_)
            )
    };

    let wrong = keys.iter().find(|arg| !is_value(arg))?;
    Some(format!(
        "`{}` chooses the row, so it is a value that has to be given",
        wrong.rust
    ))
}

/// Checks that the fields of an input object are columns, and that the conflict columns are either
/// required or left to the table's defaults.
fn columns(types: &[TypeDef], write: WriteMeta, arg: &ArgDef) -> Option<String> {
    if let Some(why) = nested::check(types, write, arg.ty.named()) {
        return Some(why);
    }

    let input = input(types, arg)?;
    if input.role != InputRole::Declared || !arg.ty.is_non_null() {
        return Some(format!(
            "`{}` has to be an `#[svc_input]` that is given",
            arg.rust
        ));
    }

    let field = |column: &str| input.fields.values().find(|field| field.rust == column);
    let is_left_out = |column: &&&str| field(column).is_some_and(|field| !field.ty.is_non_null());

    // Columns missing from the input are left to the defaults of the table.
    let has_none =
        !write.conflict.is_empty() && write.conflict.iter().all(|column| field(column).is_none());
    let wrong = write
        .conflict
        .iter()
        .find(is_left_out)
        .or(write.conflict.first().filter(|_| has_none))?;

    Some(format!(
        "`{wrong}` tells whether a row is there already, so `{}` needs a field of that name without `Option`",
        arg.rust
    ))
}
