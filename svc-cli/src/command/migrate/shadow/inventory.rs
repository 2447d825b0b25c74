//! The schema of a database, item by item.

use std::collections::BTreeMap;

use tokio_postgres::Client;

use super::super::failed;
use crate::failure::Result;

const INVENTORY: &str = include_str!("inventory.sql");

/// The kinds of items that files of `db/schema` recreate.
const REPEATABLE: [&str; 5] = ["view", "materialized view", "function", "trigger", "policy"];

/// The definition of each item, by its kind and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::command::migrate) struct Inventory(BTreeMap<(String, String), String>);

/// The differences between the schema in the files and a database.
#[derive(Debug, Default)]
pub(in crate::command::migrate) struct Differences {
    /// Items missing from the database.
    pub(in crate::command::migrate) missing: Vec<String>,
    /// Items with another definition.
    pub(in crate::command::migrate) other: Vec<String>,
    /// Items that no file creates.
    pub(in crate::command::migrate) extra: Vec<String>,
}

impl Inventory {
    pub(in crate::command::migrate) async fn read(client: &Client) -> Result<Self> {
        // Definitions qualify names of schemas outside of the search path, which a file may have
        // set.
        client
            .batch_execute("SET search_path = ''")
            .await
            .map_err(|error| failed(&error))?;
        let rows = client.query(INVENTORY, &[]).await;
        client
            .batch_execute("RESET search_path")
            .await
            .map_err(|error| failed(&error))?;
        let rows = rows.map_err(|error| failed(&error))?;
        let item = |row: tokio_postgres::Row| {
            let definition = row.get::<_, Option<String>>(2).unwrap_or_default();
            ((row.get(0), row.get(1)), definition)
        };

        Ok(Self(rows.into_iter().map(item).collect()))
    }

    /// The inventory without items that files of the schema recreate.
    pub(in crate::command::migrate) fn of_tables(mut self) -> Self {
        self.0.retain(|(kind, name), _| {
            // Indexes of materialized views are in this list as well, and are recreated with them.
            !REPEATABLE.contains(&kind.as_str()) && !name.is_empty()
        });
        self
    }

    /// Compares a database with the schema in the files.
    pub(in crate::command::migrate) fn compare(&self, database: &Self) -> Differences {
        let shown = |(kind, name): &(String, String)| format!("the {kind} {name}");
        let mut differences = Differences::default();
        for (item, definition) in &self.0 {
            match database.0.get(item) {
                None => differences.missing.push(shown(item)),
                Some(other) if other != definition => {
                    let is_short = |text: &str| text.len() <= 60 && !text.contains('\n');
                    let values = if is_short(other) && is_short(definition) {
                        format!(": {other}, but the files create it as {definition}")
                    } else {
                        String::new()
                    };
                    differences.other.push(format!("{}{values}", shown(item)));
                }
                Some(_) => {}
            }
        }

        differences.extra = database
            .0
            .keys()
            .filter(|item| !self.0.contains_key(item))
            .map(shown)
            .collect();

        differences
    }
}
