//! Checks the SQL of operations when the database is first reached, and when its views have
//! changed.

use std::sync::{Arc, Weak};

use super::Registered;
use svc_postgres::{Columns, Database};

/// Has PostgreSQL describe each statement, and logs mismatches. The service keeps running: the
/// database may be changed, and until then each such operation is an error.
pub async fn describe_all(database: Weak<Database>, operations: Vec<Arc<Registered>>) {
    let operations: Vec<_> = operations
        .iter()
        .filter(|operation| operation.sql.is_some())
        .collect();
    let statements: Vec<_> = operations
        .iter()
        .filter_map(|operation| Some(&*operation.sql.as_ref()?.text))
        .collect();
    if statements.is_empty() {
        return;
    }

    loop {
        let Some(database) = Database::when_up(database.clone()).await else {
            return;
        };

        // Subscribed before the check, so that a change during it is not missed.
        let mut changes = database.told_of_changes();
        match database.describe(&statements).await {
            Ok(described) => complain(&operations, described),
            Err(error) => tracing::warn!(
                error = error.with_sources(),
                "cannot check the SQL of registered operations"
            ),
        }

        // Not held while it waits, so that the database can be closed.
        drop(database);

        if changes.changed().await.is_err() {
            return;
        }
    }
}

fn complain(operations: &[&Arc<Registered>], described: Vec<Result<Columns, String>>) {
    for (operation, described) in operations.iter().zip(described) {
        let complaints = described.map_or_else(
            |error| vec![error],
            |columns| operation.complaints(&columns),
        );
        for complaint in complaints {
            tracing::warn!(
                operation = operation.shown,
                complaint,
                "the SQL of a registered operation does not match its document"
            );
        }
    }
}

impl Registered {
    /// Returns the faults of the SQL's columns.
    fn complaints(&self, columns: &[(String, String)]) -> Vec<String> {
        let wrong = columns.iter().filter_map(|(name, ty)| {
            if !self.keys().any(|key| key == name) {
                return Some(format!(
                    "its column {name:?} is not a root field of the operation"
                ));
            }
            let is_json = matches!(ty.as_str(), "json" | "jsonb");
            (!is_json)
                .then(|| format!("its column {name:?} is a {ty}, and has to be jsonb or json"))
        });

        let missing = self
            .keys()
            .filter(|key| columns.iter().all(|(name, _)| name != key));

        wrong
            .chain(missing.map(|key| format!("it gives no column {key:?}")))
            .collect()
    }
}
