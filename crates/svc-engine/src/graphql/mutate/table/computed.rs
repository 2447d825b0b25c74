//! Input fields whose columns PostgreSQL computes.

use super::columns::{input_of, nested_fields, writes};
use svc_core::schema::{ArgRole, InputDef, Model, NestedVerb, TypeIndex};
use svc_postgres::Catalog;

/// An input field whose column accepts no value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ComputedColumn<'m> {
    /// The mutation.
    pub(crate) field: &'m str,
    pub(crate) table: &'static str,
    pub(crate) column: &'m str,
    /// Whether clients must provide it, so that the mutation always fails.
    pub(crate) is_needed: bool,
}

/// The fields of the mutations' inputs whose columns are generated.
pub(crate) fn computed_columns<'m>(model: &'m Model, catalog: &Catalog) -> Vec<ComputedColumn<'m>> {
    let mut found = Vec::new();
    for (def, write) in writes(model) {
        let mut open: Vec<(TypeIndex, &'static str, bool)> = def
            .args
            .iter()
            .filter(|arg| arg.role != ArgRole::Where)
            .map(|arg| (arg.ty.named(), write.table, false))
            .collect();

        let mut seen = Vec::new();
        while let Some((index, table, is_nested)) = open.pop() {
            // The same input may be nested for several tables, and each has other generated
            // columns.
            let Some(input) = input_of(model, index).filter(|_| !seen.contains(&(index, table)))
            else {
                continue;
            };

            seen.push((index, table));
            found.extend(
                of_input(catalog, input, table, is_nested).map(|(column, is_needed)| {
                    ComputedColumn {
                        field: &def.name,
                        table,
                        column,
                        is_needed,
                    }
                }),
            );

            let nested =
                nested_fields(Some(input)).filter(|(_, nested)| nested.verb != NestedVerb::Links);

            open.extend(nested.map(|(field, nested)| (field.ty.named(), nested.table, true)));
        }
    }

    found
}

/// The columns of a table that an input provides and that are generated. In a list of nested rows,
/// `id` selects an existing row instead.
fn of_input<'m>(
    catalog: &Catalog,
    input: &'m InputDef,
    table: &str,
    is_nested: bool,
) -> impl Iterator<Item = (&'m str, bool)> {
    let columns = catalog.source(table).map(|source| &source.columns);
    let is_computed = move |name: &str| {
        columns
            .and_then(|columns| columns.get(name))
            .is_some_and(|ty| ty.is_computed)
    };

    let given = input
        .fields
        .values()
        .filter(move |field| field.nested.is_none() && !(is_nested && field.rust == "id"));
    let computed: Vec<_> = given
        .filter(|field| is_computed(&field.rust))
        .map(|field| {
            (
                field.rust.as_str(),
                field.ty.is_non_null() && field.default.is_none(),
            )
        })
        .collect();

    computed.into_iter()
}
