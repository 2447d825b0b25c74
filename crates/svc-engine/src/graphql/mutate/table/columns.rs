//! The columns that mutations write, and whether the database has them.

use std::collections::HashSet;
use std::iter;

use super::ROOT;
use crate::graphql::context::function_arguments::form;
use svc_core::schema::{
    ArgDef, ArgRole, FieldDef, FieldKind, InputDef, Model, NestedMeta, NestedVerb, Place, Run,
    TypeIndex, TypeKind, WriteMeta,
};
use svc_postgres::{ArgForm, Catalog, Source, Table, quote};

/// A column and the form of its values.
pub(crate) type Column<'m> = (&'m str, ArgForm);

/// A field of an input object that holds rows of another table.
pub(super) type NestedField<'a> = (&'a ArgDef, NestedMeta);

/// The fields of an input object that hold rows of other tables.
pub(super) fn nested_fields(input: Option<&InputDef>) -> impl Iterator<Item = NestedField<'_>> {
    let fields = input.into_iter().flat_map(|input| input.fields.values());
    fields.filter_map(|field| Some((field, field.nested?)))
}

/// The columns that a mutation writes, and the columns that select a row.
pub(crate) fn columns<'m>(
    model: &'m Model,
    def: &'m FieldDef,
    write: WriteMeta,
) -> Vec<Column<'m>> {
    let mut columns = Vec::new();
    // With a filter, the other arguments are conditions on the view.
    let is_written = |arg: &&ArgDef| !write.is_by_filter() || arg.role == ArgRole::Given;
    for arg in def.args.iter().filter(is_written) {
        match &model.types[arg.ty.named()].kind {
            TypeKind::Input(input) => columns.extend(input_columns(model, input)),
            _ => {
                let name = if arg.rust == "id" {
                    write.key
                } else {
                    &arg.rust
                };
                columns.push((name, form(&model.types, &arg.ty)));
            }
        }
    }

    columns
}

/// The columns that an input object writes: its own columns, the columns that refer to rows nested
/// in it, and the columns that nested rows refer to.
fn input_columns<'m>(model: &'m Model, input: &'m InputDef) -> impl Iterator<Item = Column<'m>> {
    input
        .fields
        .values()
        .filter_map(|field| match field.nested {
            None => Some((field.rust.as_str(), form(&model.types, &field.ty))),
            Some(nested) if nested.verb == NestedVerb::Row => Some((nested.column, ArgForm::Text)),
            Some(nested) => Some((nested.references?, ArgForm::Null)),
        })
}

/// The columns written to a table whose rows are nested in a field of an input object. There, `id`
/// means the key column, as it does in arguments.
pub(super) fn level_columns<'m>(
    model: &'m Model,
    input: Option<&'m InputDef>,
    nested: NestedMeta,
) -> Vec<Column<'m>> {
    let own = input
        .into_iter()
        .flat_map(|input| input_columns(model, input));
    let own = own.map(|(name, form)| {
        if name == "id" {
            (nested.key, form)
        } else {
            (name, form)
        }
    });

    let joined = match nested.verb {
        NestedVerb::Row => nested.references.map(|column| (column, ArgForm::Null)),
        _ => Some((nested.column, ArgForm::Text)),
    };

    own.chain(joined).collect()
}

pub(super) fn writes(model: &Model) -> impl Iterator<Item = (&FieldDef, WriteMeta)> {
    let root = model
        .type_named(ROOT)
        .and_then(|(index, _)| model.object(index));
    root.into_iter()
        .flat_map(|root| root.fields.values())
        .filter_map(|field| match field.kind {
            FieldKind::Root(Run::Write(write), ..) => Some((field, write)),
            _ => None,
        })
}

/// The tables that mutations write.
pub(crate) fn tables(model: &Model) -> impl Iterator<Item = &'static str> {
    written_tables(model).map(|written| written.table)
}

/// A table that a mutation writes.
pub struct WrittenTable<'m> {
    pub field: &'m FieldDef,
    /// The place of the Rust function.
    pub place: Place,
    pub table: &'static str,
    pub key: &'static str,
    pub columns: Vec<Column<'m>>,
    /// The columns that determine whether a row already exists.
    pub conflict: &'static [&'static str],
    /// The field of an input object that holds its rows; `None` for the mutation's own table.
    pub holder: Option<(String, NestedMeta)>,
}

/// The tables that mutations write, with the columns of each.
pub fn written_tables(model: &Model) -> impl Iterator<Item = WrittenTable<'_>> {
    writes(model).flat_map(|(field, write)| {
        let WriteMeta {
            table,
            key,
            conflict,
            place,
            ..
        } = write;

        let columns = columns(model, field, write);
        let own = WrittenTable {
            field,
            place,
            table,
            key,
            columns,
            conflict,
            holder: None,
        };

        iter::once(own).chain(nested_tables(model, field, place))
    })
}

/// The other tables whose rows are nested in the input objects of a mutation.
fn nested_tables<'m>(model: &'m Model, field: &'m FieldDef, place: Place) -> Vec<WrittenTable<'m>> {
    let (mut open, mut seen) = (
        field
            .args
            .iter()
            .map(|arg| arg.ty.named())
            .collect::<Vec<_>>(),
        HashSet::new(),
    );

    let mut found = Vec::new();
    while let Some(index) = open.pop() {
        let TypeKind::Input(input) = &model.types[index].kind else {
            continue;
        };

        // Input objects may contain their own type.
        if !seen.insert(index) {
            continue;
        }

        for (held, nested) in nested_fields(Some(input)) {
            open.push(held.ty.named());
            let columns = level_columns(model, input_of(model, held.ty.named()), nested);
            let holder = Some((
                format!("{}::{}", model.types[index].path, held.rust),
                nested,
            ));
            let NestedMeta { table, key, .. } = nested;

            found.push(WrittenTable {
                field,
                place,
                table,
                key,
                columns,
                conflict: &[],
                holder,
            });
        }
    }

    found
}

/// Returns the definition of a type that is an input object.
pub(super) fn input_of(model: &Model, ty: TypeIndex) -> Option<&InputDef> {
    match &model.types[ty].kind {
        TypeKind::Input(input) => Some(input),
        _ => None,
    }
}

/// The types whose row policies apply to the rows nested in the input objects of a mutation.
pub(crate) fn nested_rows(model: &Model, field: &FieldDef) -> Vec<TypeIndex> {
    let nested = match field.kind {
        FieldKind::Root(Run::Write(write), ..) => nested_tables(model, field, write.place),
        _ => Vec::new(),
    };

    let of = nested
        .iter()
        .filter_map(|written| written.holder.as_ref()?.1.of);

    of.filter_map(|of| model.by_rust.get(&of()).copied())
        .collect()
}

/// A mutation that cannot write its table.
pub(crate) struct Unwritable<'m> {
    pub(crate) field: &'m str,
    pub(crate) table: &'static str,
    pub(crate) cause: String,
    pub(crate) remedy: String,
}

/// The mutations that cannot write their tables. Missing tables are reported elsewhere.
pub(crate) fn unwritable<'m>(
    model: &'m Model,
    catalog: &Catalog,
) -> impl Iterator<Item = Unwritable<'m>> {
    let there = written_tables(model).filter(|written| catalog.source(written.table).is_some());
    there.filter_map(|written| {
        let WrittenTable { field, table: name, key, columns, conflict, .. } = &written;
        let (cause, remedy) = match Table::new(catalog, name, key, columns) {
            Err(cause) => {
                (cause, "add the column with a type that takes the values, or rename the field of the input".to_owned())
            }
            Ok(table) if conflict.is_empty() => {
                let cause = table.excludes_ids(filtered_view(model, catalog, field)?)?;
                (cause, "name the column with the view's `id`, as in `key = \"pk_product\"`".to_owned())
            }
            Ok(table) => {
                let mut left_out = conflict.iter().filter(|name| !columns.iter().any(|(column, _)| column == *name));
                if let Some(cause) = left_out.find_map(|column| table.lacks_default(column)) {
                    let remedy = "give the input a field of that name, or the column a default".to_owned();
                    return Some(Unwritable { field: &field.name, table: name, cause, remedy });
                }
                let columns = conflict.iter().map(|column| quote(column)).collect::<Vec<_>>().join(", ");
                (table.lacks_index(conflict)?, format!("make it: CREATE UNIQUE INDEX ON {name} ({columns})"))
            }
        };

        Some(Unwritable { field: &field.name, table: name, cause, remedy })
    })
}

/// The view of the rows that a mutation writes, if the client's filter selects them.
fn filtered_view<'c>(model: &Model, catalog: &'c Catalog, field: &FieldDef) -> Option<&'c Source> {
    match field.kind {
        FieldKind::Root(Run::Write(write), Some(row), _) if write.is_by_filter() => {
            catalog.source(model.source(row)?)
        }
        _ => None,
    }
}
