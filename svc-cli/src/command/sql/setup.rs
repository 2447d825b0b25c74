//! `svc sql generate-setup`.

use std::fmt::Write as _;

use super::{GenerateSetup, identifier, path, put, view};
use crate::failure::Result;
use crate::program::{self, Description, Field, Relation, Type};
use crate::project::Project;

/// The column types for scalars, with an SQL expression for the value in the n-th row.
const SCALARS: [(&str, &str, &str); 12] = [
    ("String", "text", "'{name} ' || n"),
    ("Int", "integer", "n"),
    ("BigInt", "bigint", "n"),
    ("Float", "double precision", "n"),
    ("Boolean", "boolean", "n % 2 = 1"),
    ("ID", "text", "n::text"),
    ("UUID", "uuid", "gen_random_uuid()"),
    ("DateTime", "timestamptz", "now() - n * interval '1 day'"),
    ("Date", "date", "current_date - n"),
    ("Time", "time", "time '12:00' + n * interval '1 minute'"),
    ("Decimal", "numeric", "n"),
    ("JSON", "jsonb", "'{}'::jsonb"),
];

/// The number of rows written by `--with-data`.
const ROWS: u32 = 3;

/// A column of the table behind a type.
struct Column<'a> {
    name: &'a str,
    ty: &'static str,
    value: String,
    is_required: bool,
    is_key: bool,
}

pub(super) fn run(arguments: &GenerateSetup) -> Result<()> {
    let project = Project::open()?;
    let program = program::build(&project, &arguments.choice)?;
    let description = program::describe(&project, &program, None)?;
    let ty = view::find(
        &description,
        &arguments.type_name,
        arguments.module.as_deref(),
    )?;

    put(
        &write(ty, &description, arguments)?,
        arguments.output.as_ref(),
    )
}

fn write(ty: &Type, description: &Description, arguments: &GenerateSetup) -> Result<String> {
    let table = program::table_of(&ty.source, &ty.name);
    let columns = columns(ty, description);
    let mut sql = format!(
        "-- {}: the database objects of the type. The file can run again.\n",
        ty.name
    );
    if arguments.with_table {
        sql += &create_table(&table, &columns)?;
    }

    if arguments.with_indexes {
        sql += &indexes(&table, &columns)?;
    }

    sql.push('\n');
    sql += &view::of_table(ty, &table)?;
    if arguments.with_data {
        sql += &rows(&table, &columns)?;
    }

    Ok(sql)
}

/// The columns read by the fields and relations of a type.
fn columns<'a>(ty: &'a Type, description: &'a Description) -> Vec<Column<'a>> {
    let mut columns: Vec<Column<'a>> = Vec::new();
    for field in &ty.fields {
        for (at, name) in field.reads().enumerate() {
            if columns.iter().any(|column| column.name == name) {
                continue;
            }

            let (ty, value) = match &field.relation {
                Some(relation) => key(relation, at, description),
                None => scalar(field),
            };

            columns.push(Column {
                name,
                ty,
                value,
                is_required: field.is_required(),
                is_key: false,
            });
        }
    }

    let keys = ty
        .fields
        .iter()
        .filter_map(|field| field.relation.as_ref())
        .filter(|relation| !relation.many);

    for relation in keys {
        let is_start =
            |column: &&mut Column<'_>| relation.from.iter().any(|key| key == column.name);
        columns
            .iter_mut()
            .filter(is_start)
            .for_each(|column| column.is_key = true);
    }

    columns
}

/// The type of a key at the start of a relation: the type of the key at its end.
fn key(relation: &Relation, at: usize, description: &Description) -> (&'static str, String) {
    let target = description
        .types
        .iter()
        .find(|ty| Some(&ty.source) == relation.source.as_ref());
    let end = target.and_then(|ty| {
        ty.fields
            .iter()
            .find(|field| field.stored.as_ref() == relation.to.get(at))
    });

    end.map_or_else(|| ("uuid", "gen_random_uuid()".to_owned()), scalar)
}

/// The type of a field's column, and a value for each row; every list is JSON.
fn scalar(field: &Field) -> (&'static str, String) {
    let name = field.ty.trim_end_matches('!');
    if name.starts_with('[') {
        return ("jsonb", "'[]'::jsonb".to_owned());
    }
    let known = SCALARS.iter().find(|(scalar, ..)| *scalar == name);
    let (ty, value) = known.map_or(("text", "'{name} ' || n"), |(_, ty, value)| (*ty, *value));
    (ty, value.replace("{name}", &field.name.replace('\'', "''")))
}

fn create_table(table: &str, columns: &[Column<'_>]) -> Result<String> {
    let mut lines = Vec::new();
    for column in columns {
        let rule = match column.name {
            "id" if column.ty == "uuid" => " PRIMARY KEY DEFAULT gen_random_uuid()",
            "id" => " PRIMARY KEY",
            "created_at" | "updated_at" if column.ty == "timestamptz" => " NOT NULL DEFAULT now()",
            _ if column.is_required => " NOT NULL",
            _ => "",
        };

        lines.push(format!(
            "    {} {}{rule}",
            identifier(column.name)?,
            column.ty
        ));
    }

    Ok(format!(
        "\nCREATE TABLE IF NOT EXISTS {} (\n{}\n);\n",
        path(table)?,
        lines.join(",\n")
    ))
}

/// Indexes for relations, which look up rows by key, and for orders by time.
fn indexes(table: &str, columns: &[Column<'_>]) -> Result<String> {
    let mut sql = String::from("\n");
    let plain = table.rsplit('.').next().unwrap_or(table);
    for column in columns.iter().filter(|column| column.name != "id") {
        if column.is_key || column.ty == "timestamptz" {
            // PostgreSQL truncates longer names, which may make two of them equal.
            let name: String = format!("{plain}_{}", column.name)
                .chars()
                .take(63)
                .collect();
            let (name, on) = (identifier(&name)?, identifier(column.name)?);
            let _ = writeln!(
                sql,
                "CREATE INDEX IF NOT EXISTS {name} ON {} ({on});",
                path(table)?
            );
        }
    }

    Ok(if sql.trim().is_empty() {
        String::new()
    } else {
        sql
    })
}

fn rows(table: &str, columns: &[Column<'_>]) -> Result<String> {
    let names = columns
        .iter()
        .map(|column| identifier(column.name))
        .collect::<Result<Vec<_>>>()?;
    let values: Vec<&str> = columns.iter().map(|column| column.value.as_str()).collect();
    let table = path(table)?;
    Ok(format!(
        "\n-- For development; inserts nothing if the table has rows.\nINSERT INTO {table} ({})\nSELECT {}\n\
         FROM generate_series(1, {ROWS}) AS n\nWHERE NOT EXISTS (SELECT FROM {table});\n",
        names.join(", "),
        values.join(", "),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_values_are_quoted() {
        let field: Field = serde_json::from_value(serde_json::json!({
            "name": "o'clock", "rust": "a", "type": "String!", "stored": "a", "columns": null, "relation": null,
            "line": 1, "non_null": false,
        }))
        .unwrap();
        assert_eq!(scalar(&field), ("text", "'o''clock ' || n".to_owned()));
    }
}
