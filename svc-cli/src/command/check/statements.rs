//! Compares the SQL of queries with their views: whether PostgreSQL accepts it, and whether it
//! returns all columns.

use super::finding::Finding;
use super::snapshot::{Given, Snapshot};
use crate::program::{Description, Statement};

/// The queries whose SQL does not return rows of their view.
pub(super) fn compare(description: &Description, database: &Snapshot) -> Vec<Finding> {
    description
        .statements
        .iter()
        .filter_map(|statement| compare_one(statement, database))
        .collect()
}

fn compare_one(statement: &Statement, database: &Snapshot) -> Option<Finding> {
    let Statement {
        field,
        place,
        source,
        sql,
    } = statement;

    let finding = |problem: String| {
        let fix = format!("select all columns of {source}, as in SELECT t.* FROM {source} AS t");
        Some(Finding::new(place, field, problem, fix))
    };

    let columns = match database.statements.get(sql) {
        // The snapshot was written before the query existed.
        None => return None,
        Some(Given::Refused(why)) => {
            return finding(format!("PostgreSQL rejects its SQL: {why}"));
        }
        Some(Given::Columns(columns)) => columns,
    };

    // A missing view is reported at its type.
    database
        .relation(source)?
        .columns
        .iter()
        .find_map(|(name, column)| match columns.get(name) {
            None => finding(format!(
                "its SQL does not return the column `{name}` of {source}"
            )),
            Some(ty) if *ty != column.ty => finding(format!(
                "its SQL returns `{name}` as {ty}, but in {source} it is {}",
                column.ty
            )),
            Some(_) => None,
        })
}
