//! The columns that mutations write, and whether the database has them.

use super::ROOT;
use crate::engine::function::form;
use crate::postgres::{ArgForm, Catalogue, Table};
use crate::schema::{FieldDef, FieldKind, Model, Run, TypeKind, WriteMeta};

/// A column and the form of its values.
pub(super) type Column<'m> = (&'m str, ArgForm);

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
    writes(model).map(|(_, write)| write.table)
}

/// A mutation that cannot write its table.
pub(crate) struct Unwritable<'m> {
    pub(crate) field: &'m str,
    pub(crate) table: &'static str,
    pub(crate) cause: String,
}

/// The mutations that cannot write their tables. Tables that are missing are told of elsewhere.
pub(crate) fn unwritable<'m>(model: &'m Model, catalogue: &Catalogue) -> impl Iterator<Item = Unwritable<'m>> {
    let there = writes(model).filter(|(_, write)| catalogue.source(write.table).is_some());
    there.filter_map(|(field, write)| {
        let table = Table::new(catalogue, write.table, write.key, &columns(model, field, write));
        Some(Unwritable { field: &field.name, table: write.table, cause: table.err()?.to_string() })
    })
}
