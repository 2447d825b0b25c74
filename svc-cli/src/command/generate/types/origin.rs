//! Finds the table columns behind the columns of views.
//!
//! PostgreSQL reports for each column of a query whether it is an unchanged column of a table or a
//! view. So the view's query is prepared, and then the queries of the views that it reads.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use tokio_postgres::Client;

use super::catalog::{self, Column, Place, failed};
use crate::failure::Result;

/// The maximum nesting of views that is followed.
const DEEPEST: usize = 16;

/// The words of a query that may make a column null although its table has it NOT NULL.
const NULLING: [&str; 6] = ["LEFT", "RIGHT", "FULL", "ROLLUP", "CUBE", "SETS"];

/// Finds the origins of a view's columns. A column that is never null in its table is never null in
/// the view, unless the view has outer joins or similar clauses.
pub(super) async fn find(client: &Client, view: u32, columns: &mut [Column]) -> Result<()> {
    let mut tables: HashMap<u32, Vec<Column>> = HashMap::new();
    let mut places: Vec<Option<Place>> = columns.iter().map(|column| column.origin).collect();
    let mut keeps_nulls_out = true;
    let mut deepest = vec![view];

    for _ in 0..DEEPEST {
        let mut queries = HashMap::new();
        for view in std::mem::take(&mut deepest) {
            if let Some((origins, is_plain)) = query(client, view).await? {
                queries.insert(view, origins);
                keeps_nulls_out &= is_plain;
            }
        }

        if queries.is_empty() {
            break;
        }

        for place in &mut places {
            let Some((relation, number)) = *place else {
                continue;
            };

            let Some(origins) = queries.get(&relation) else {
                continue;
            };

            // Columns of a view cannot be dropped, so their numbers have no gaps.
            let index = usize::try_from(number)
                .unwrap_or_default()
                .saturating_sub(1);
            *place = origins.get(index).copied().flatten();

            if let Some((relation, _)) = *place
                && !deepest.contains(&relation)
            {
                deepest.push(relation);
            }
        }
    }

    for (column, place) in columns.iter_mut().zip(places) {
        column.origin = place;
        let Some((table, number)) = place else {
            continue;
        };

        let behind = match tables.entry(table) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(catalog::columns(client, table).await?),
        };

        let behind = behind
            .iter()
            .find(|behind| behind.origin == Some((table, number)));

        column.is_required = keeps_nulls_out && behind.is_some_and(|behind| behind.is_required);
    }

    Ok(())
}

/// The origins of the columns of a view's query, and whether no clause of it adds nulls; none for a
/// table.
async fn query(client: &Client, view: u32) -> Result<Option<(Vec<Option<Place>>, bool)>> {
    let text = "SELECT pg_get_viewdef(oid) FROM pg_class WHERE oid = $1 AND relkind IN ('v', 'm')";
    let Some(row) = client
        .query_opt(text, &[&view])
        .await
        .map_err(|error| failed(&error))?
    else {
        return Ok(None);
    };

    let definition: String = row.get(0);
    let words = definition.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let is_plain = words.into_iter().all(|word| !NULLING.contains(&word));

    // A view that this user may read may use tables that it may not; their columns can still be
    // named, not read.
    let Ok(statement) = client.prepare(&definition).await else {
        return Ok(Some((Vec::new(), false)));
    };

    let place = |column: &tokio_postgres::Column| Some((column.table_oid()?, column.column_id()?));

    Ok(Some((
        statement.columns().iter().map(place).collect(),
        is_plain,
    )))
}
