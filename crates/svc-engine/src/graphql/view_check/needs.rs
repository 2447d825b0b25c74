//! The database objects that the fields of a schema need: views, tables, functions and statements.

use crate::graphql::find::{field_spec, row_functions, row_sources, spec_of};
use crate::graphql::{functions, tables};
use svc_core::schema::{Model, RowSourceKind};
use svc_postgres::Needs;

/// Returns the views, tables, functions and statements that a schema needs, with the channels that
/// the database should notify: they depend on the source of events.
pub fn database_needs(model: &Model, channels: Vec<String>) -> Needs {
    let sources = model
        .sources()
        .map(str::to_owned)
        .chain(tables(model).map(str::to_owned));
    let read = |kind| row_sources(model).filter(move |(_, _, source)| source.kind == kind);
    let read_from =
        read(RowSourceKind::Function).map(|(field, _, source)| spec_of(model, field, source));
    let of_rows =
        row_functions(model).map(|(row, field, function)| field_spec(model, row, field, function));
    let called = functions(model)
        .map(|(_, _, spec)| spec)
        .chain(read_from)
        .chain(of_rows);

    Needs {
        sources: sources.collect(),
        functions: called.collect(),
        statements: read(RowSourceKind::Sql)
            .map(|(_, _, source)| source.text)
            .collect(),
        channels,
    }
}
