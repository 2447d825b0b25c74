//! The columns that mutations write, and whether the database has them.

use super::ROOT;
use crate::engine::function::form;
use crate::postgres::{ArgForm, Catalogue, Table, quote};
use crate::schema::{FieldDef, FieldKind, Model, Place, Run, TypeKind, WriteMeta};

/// A column and the form of its values.
pub(crate) type Column<'m> = (&'m str, ArgForm);

/// The columns that a mutation writes, and those that choose a row.
pub(super) fn columns<'m>(model: &'m Model, def: &'m FieldDef, write: WriteMeta) -> Vec<Column<'m>> {
    let mut columns = Vec::new();
    for arg in &def.args {
        match &model.types[arg.ty.named()].kind {
            TypeKind::Input(input) => {
                let fields = input.fields.values();
                columns.extend(fields.map(|field| (field.rust.as_str(), form(&model.types, &field.ty))));
            }
            _ => {
                let name = if arg.rust == "id" { write.key } else { &arg.rust };
                columns.push((name, form(&model.types, &arg.ty)));
            }
        }
    }
    columns
}

fn writes(model: &Model) -> impl Iterator<Item = (&FieldDef, WriteMeta)> {
    let root = model.type_named(ROOT).and_then(|(index, _)| model.object(index));
    root.into_iter().flat_map(|root| root.fields.values()).filter_map(|field| match field.kind {
        FieldKind::Root(Run::Write(write), ..) => Some((field, write)),
        _ => None,
    })
}

/// The tables that mutations write.
pub(crate) fn tables(model: &Model) -> impl Iterator<Item = &'static str> {
    written_tables(model).map(|written| written.table)
}

/// A table that a mutation writes.
pub(crate) struct WrittenTable<'m> {
    pub(crate) field: &'m FieldDef,
    /// The place of the Rust function.
    pub(crate) place: Place,
    pub(crate) table: &'static str,
    pub(crate) key: &'static str,
    pub(crate) columns: Vec<Column<'m>>,
    /// The columns by which a row is there already.
    pub(crate) conflict: &'static [&'static str],
}

/// The tables that mutations write, with the columns of each.
pub(crate) fn written_tables(model: &Model) -> impl Iterator<Item = WrittenTable<'_>> {
    writes(model).map(|(field, write)| {
        let WriteMeta { table, key, conflict, place, .. } = write;
        WrittenTable { field, place, table, key, columns: columns(model, field, write), conflict }
    })
}

/// A mutation that cannot write its table.
pub(crate) struct Unwritable<'m> {
    pub(crate) field: &'m str,
    pub(crate) table: &'static str,
    pub(crate) cause: String,
    pub(crate) remedy: String,
}

/// The mutations that cannot write their tables. Tables that are missing are told of elsewhere.
pub(crate) fn unwritable<'m>(model: &'m Model, catalogue: &Catalogue) -> impl Iterator<Item = Unwritable<'m>> {
    let there = written_tables(model).filter(|written| catalogue.source(written.table).is_some());
    there.filter_map(|written| {
        let WrittenTable { field, table: name, key, columns, conflict, .. } = &written;
        let (cause, remedy) = match Table::new(catalogue, name, key, columns) {
            Err(cause) => {
                (cause, "add the column with a type that takes the values, or rename the field of the input".to_owned())
            }
            Ok(_) if conflict.is_empty() => return None,
            Ok(table) => {
                let columns = conflict.iter().map(|column| quote(column)).collect::<Vec<_>>().join(", ");
                (table.lacks_index(conflict)?, format!("make it: CREATE UNIQUE INDEX ON {name} ({columns})"))
            }
        };
        Some(Unwritable { field: &field.name, table: name, cause, remedy })
    })
}
