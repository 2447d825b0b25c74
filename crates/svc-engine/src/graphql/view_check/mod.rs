//! Compares the schema with the database: reports the fields that cannot be answered, and the
//! fields that may fail.

mod channels;
mod fields;
mod finding;
mod functions;
mod hints;
mod needs;
mod orders;
mod relations;
mod row_functions;
mod row_sources;
mod state;
mod tables;

pub use finding::{Finding, Severity};
pub use needs::database_needs;

use std::sync::{Arc, Weak};

use svc_core::schema::Model;
use svc_postgres::{Catalog, Database};

/// All mismatches between the schema and the database, faults first. The start, `/ready` and
/// `svc::testing::check_views` share this function.
///
/// Hints need the catalog's facts about nulls, labels and channels, which are read in development
/// only.
pub fn findings(model: &Model, database: &Database, catalog: &Catalog) -> Vec<Finding> {
    let mut found = findings_beside_nulls(model, database, catalog);
    found.extend(hints::nulls(model, catalog));

    // Several checks can find the same fault, and only equal neighbors are removed.
    found.sort();
    found.dedup();
    found
}

/// Like `findings`, without hints about nulls, which `svc check` examines in more depth.
pub fn findings_beside_nulls(
    model: &Model,
    database: &Database,
    catalog: &Catalog,
) -> Vec<Finding> {
    let mut found = missing_views(database);
    found.extend(fields::broken_fields(model, catalog));
    found.extend(relations::mismatched_keys(model, catalog));
    found.extend(orders::broken_orders(model, catalog));
    found.extend(functions::broken_functions(model, database));
    found.extend(row_functions::broken_row_functions(
        model, database, catalog,
    ));
    found.extend(row_sources::broken_row_sources(model, database, catalog));
    found.extend(tables::unwritable_tables(model, catalog));
    found.extend(tables::computed_columns(model, catalog));
    found.extend(state::unpopulated_views(catalog));
    found.extend(state::without_changes(model, catalog));
    found.extend(state::other_encoding(catalog));
    found.extend(hints::labels(model, catalog));
    found.extend(channels::silent_channels(model, catalog));
    found.sort();
    found.dedup();

    found
}

fn missing_views(database: &Database) -> Vec<Finding> {
    let missing = |source: String| Finding {
        severity: Severity::Fault,
        field: String::new(),
        cause: format!(
            "the database has no view or table `{source}`, or the service may not see it"
        ),
        remedy: "make it, or let the role of the service use its schema: GRANT USAGE ON SCHEMA …"
            .to_owned(),
        source,
    };

    database
        .missing_sources()
        .into_iter()
        .map(missing)
        .collect()
}

/// Logs each finding, and after each change the new ones.
pub async fn note_findings(database: Weak<Database>, model: Arc<Model>) {
    let mut known = Vec::new();
    loop {
        let Some(database) = Database::when_up(database.clone()).await else {
            return;
        };

        // Subscribed before the catalog is read, so that a change during it is not missed.
        let mut changes = database.told_of_changes();
        if let Ok(catalog) = database.catalog().await {
            let found = findings(&model, &database, &catalog);
            found
                .iter()
                .filter(|finding| !known.contains(*finding))
                .for_each(note);
            known = found;
        }

        // Not held while it waits, so that the database can be closed.
        drop(database);

        if changes.changed().await.is_err() {
            return;
        }
    }
}

fn note(finding: &Finding) {
    let Finding {
        severity,
        source,
        field,
        cause,
        remedy,
    } = finding;

    match severity {
        Severity::Fault => tracing::warn!(
            source,
            field,
            cause,
            remedy,
            "the database does not fit the schema"
        ),
        Severity::Hint => tracing::info!(
            source,
            field,
            cause,
            remedy,
            "the database may not fit the schema"
        ),
    }
}
