//! Queries whose rows a function or SQL should return, but does not.

use super::{Finding, Severity};
use crate::graphql::find::{row_sources, spec_of};
use svc_core::schema::{Model, RowSourceKind};
use svc_postgres::{Catalog, Columns, Database, Source};

/// The queries whose function or SQL does not return rows of their view.
pub(super) fn broken_row_sources(
    model: &Model,
    database: &Database,
    catalog: &Catalog,
) -> Vec<Finding> {
    let mut found = Vec::new();
    for (field, row, meta) in row_sources(model) {
        // A missing view is reported elsewhere.
        let Some(view) = model.source(row).and_then(|name| catalog.source(name)) else {
            continue;
        };

        let (source, cause) = match meta.kind {
            RowSourceKind::Function => {
                let spec = spec_of(model, field, meta);
                let unfit = || database.known_function(&spec)?.check_rows(view).err();
                (
                    meta.text.to_owned(),
                    database.function_fault(&spec).or_else(unfit),
                )
            }
            RowSourceKind::Sql => (view.name.clone(), sql_fault(database, meta.text, view)),
        };

        let remedy = match meta.kind {
            RowSourceKind::Function => format!(
                "make a STABLE function that takes the arguments of the query in their order and RETURNS SETOF {}, and let \
                 the role of the service call it",
                view.name
            ),
            RowSourceKind::Sql => {
                format!(
                    "select all columns of `{}`, as in `SELECT p.* FROM {} AS p …`",
                    view.name, view.name
                )
            }
        };

        let field = format!("Query.{}", field.name);

        found.extend(cause.map(|cause| Finding {
            severity: Severity::Fault,
            source,
            field,
            cause,
            remedy,
        }));
    }

    found
}

fn sql_fault(database: &Database, text: &str, view: &Source) -> Option<String> {
    match database.described(text)? {
        Err(error) => Some(format!("PostgreSQL does not take its SQL: {error}")),
        Ok(columns) => differing(&columns, view),
    }
}

/// The first column of the view, by name, that a statement does not return as the view does.
fn differing(columns: &Columns, view: &Source) -> Option<String> {
    let mut all: Vec<_> = view
        .columns
        .iter()
        .filter(|(name, _)| !view.denied.contains(*name))
        .collect();

    all.sort_unstable_by_key(|(name, _)| *name);
    all.into_iter().find_map(|(name, known)| {
        match columns.iter().find(|(given, _)| given == name) {
            None => Some(format!(
                "its SQL gives no column `{name}`, which `{}` has",
                view.name
            )),
            Some((_, ty)) if *ty != known.name => Some(format!(
                "its SQL gives `{name}` as {ty}, and `{}` has it as {}",
                view.name, known.name
            )),
            Some(_) => None,
        }
    })
}
