//! Views that pending files would take away from a running service.

use std::collections::BTreeMap;

use tokio_postgres::Client;

use super::failed;
use crate::failure::Result;

/// The columns of each view with their types, as read by a running service.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Views(BTreeMap<String, BTreeMap<String, String>>);

const COLUMNS: &str = "\
    SELECT n.nspname || '.' || c.relname, a.attname::text, format_type(a.atttypid, a.atttypmod) \
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
    WHERE (c.relkind IN ('v', 'm') OR c.relname LIKE 'tv\\_%') \
        AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_t%'";

impl Views {
    /// The views of the database, as visible to this connection.
    pub(super) async fn read(client: &Client) -> Result<Self> {
        // Tables named `tv_…` are included, because services read them like views.
        let rows = client
            .query(COLUMNS, &[])
            .await
            .map_err(|error| failed(&error))?;
        let mut views: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for row in rows {
            views
                .entry(row.get(0))
                .or_default()
                .insert(row.get(1), row.get(2));
        }

        Ok(Self(views))
    }

    /// The views and columns missing from `later`.
    pub(super) fn lost(&self, later: &Self) -> Vec<String> {
        let mut lost = Vec::new();
        for (view, columns) in &self.0 {
            let Some(now) = later.0.get(view) else {
                lost.push(format!("{view} would be dropped"));
                continue;
            };

            for (column, ty) in columns {
                match now.get(column) {
                    None => lost.push(format!("{view} would lose its column `{column}`")),
                    Some(other) if other != ty => {
                        lost.push(format!(
                            "the column `{column}` of {view} would be {other}; it is {ty}"
                        ));
                    }
                    Some(_) => {}
                }
            }
        }

        lost
    }
}
