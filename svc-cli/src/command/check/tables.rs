//! Compares mutations with the tables that they write: whether these have the columns, with types
//! that accept the values, and the unique index of an upsert.

use super::finding::Finding;
use super::snapshot::{Column, Relation, Snapshot};
use crate::program::{Argument, Description, Write, WrittenColumn};

/// The mismatches between mutations and their tables.
pub(super) fn compare(description: &Description, database: &Snapshot) -> Vec<Finding> {
    description
        .writes
        .iter()
        .flat_map(|write| compare_write(write, database.relation(&write.table)))
        .collect()
}

fn compare_write(write: &Write, table: Option<&Relation>) -> Vec<Finding> {
    let name = &write.table;
    let finding =
        |problem: String, fix: String| Finding::new(&write.place, &write.field, problem, fix);
    let Some(table) = table else {
        let fix = "create it in a file of db/schema and apply it: svc migrate up".to_owned();
        return vec![finding(format!("the database has no table `{name}`"), fix)];
    };

    let mut found = Vec::new();
    for column in &write.columns {
        match table.columns.get(&column.name) {
            None => {
                let fix = format!(
                    "name the field like its column, or add the column: ALTER TABLE {name} ADD COLUMN {} …",
                    column.name
                );
                found.push(finding(
                    format!("`{name}` has no column `{}`", column.name),
                    fix,
                ));
            }
            Some(there) => found.extend(
                column
                    .misfit(there)
                    .map(|(problem, fix)| finding(problem, fix.to_owned())),
            ),
        }
    }

    // A written column with this name has been reported above.
    if !table.columns.contains_key(&write.key)
        && !write.columns.iter().any(|column| column.name == write.key)
    {
        let fix = "name the column with the view's `id`, as in `key = \"…\"`".to_owned();
        found.push(finding(
            format!("`{name}` has no column `{}`", write.key),
            fix,
        ));
    }

    if table.lacks_index(&write.conflict) {
        let columns = write.conflict.join(", ");
        let fix = format!("create it: CREATE UNIQUE INDEX ON {name} ({columns})");
        found.push(finding(
            format!("`{name}` has no unique index on {columns}, which `conflict` requires"),
            fix,
        ));
    }

    found
}

impl WrittenColumn {
    /// The reason why a column does not accept the values, and the fix.
    fn misfit(&self, column: &Column) -> Option<(String, &'static str)> {
        let is_json = matches!(column.ty.as_str(), "json" | "jsonb");
        let is_array = column.ty.starts_with('_');
        let fix = match self.form {
            Argument::Json if !is_json => "an object needs a column of type jsonb",
            Argument::List if !is_json && !is_array => {
                "a list needs an array, or a column of type jsonb"
            }
            Argument::Scalar if is_array => "use a list",
            _ => return None,
        };

        Some((
            format!("the column `{}` is of type {}", self.name, column.ty),
            fix,
        ))
    }
}

impl Relation {
    /// Whether it is a table without the unique index of an upsert.
    fn lacks_index(&self, conflict: &[String]) -> bool {
        // For ON CONFLICT, the order of the columns in the index does not matter.
        let mut wanted = conflict.to_vec();
        wanted.sort_unstable();
        self.is_table && !wanted.is_empty() && !self.unique.contains(&wanted)
    }
}
