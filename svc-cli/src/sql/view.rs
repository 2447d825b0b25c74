//! `svc sql generate-view`.

use std::fmt::Write as _;

use super::{GenerateView, identifier, literal, path, put};
use crate::failure::{Failure, Result};
use crate::program::{self, Description, Type};
use crate::project::Project;

pub(super) fn run(arguments: &GenerateView) -> Result<()> {
    let project = Project::open()?;
    let program = program::build(&project, &arguments.choice)?;
    let description = program::describe(&project, &program)?;
    let ty = find(&description, &arguments.type_name, arguments.module.as_deref())?;
    put(&write(ty, arguments)?, arguments.output.as_ref())
}

pub(super) fn find<'a>(description: &'a Description, name: &str, module: Option<&str>) -> Result<&'a Type> {
    let in_module = |ty: &&Type| module.is_none_or(|module| ty.path.starts_with(&format!("{module}::")));
    let found = description.types.iter().filter(in_module).find(|ty| ty.name == name);
    found.ok_or_else(|| {
        let names = description.types.iter().map(|ty| ty.path.as_str()).collect::<Vec<_>>().join(", ");
        Failure::new(format!("the schema has no type `{name}` with rows")).hint(format!("it has {names}"))
    })
}

/// The view of a type over a table.
pub(super) fn of_table(ty: &Type, table: &str) -> Result<String> {
    sql(ty, &ty.source, table, &[])
}

fn write(ty: &Type, arguments: &GenerateView) -> Result<String> {
    let view = arguments.view.as_deref().unwrap_or(&ty.source);
    let table = arguments.table.clone().unwrap_or_else(|| program::table_of(&ty.source, &ty.name));
    let sql = sql(ty, view, &table, &arguments.exclude)?;
    let comment = "columns for filters and orders, and `data` for all that it reads.";
    Ok(if arguments.no_comments { sql } else { format!("-- The rows of {}: {comment}\n{sql}", ty.name) })
}

fn sql(ty: &Type, view: &str, table: &str, excluded: &[String]) -> Result<String> {
    let is_left_out = |name: &str| excluded.iter().any(|excluded| excluded == name);
    // A relation is joined by its key, which is not a field.
    let fields = ty.fields.iter().filter(|field| !is_left_out(&field.rust));
    let keys = fields.flat_map(program::Field::reads).filter(|stored| !is_left_out(stored));
    let mut stored: Vec<&str> = Vec::new();
    for key in keys {
        if !stored.contains(&key) {
            stored.push(key);
        }
    }
    if stored.is_empty() {
        return Err(Failure::new(format!("no field of {} is left", ty.name)));
    }
    let columns = stored.iter().map(|name| identifier(name)).collect::<Result<Vec<_>>>()?;
    let (view, all) = (path(view)?, columns.join(", "));
    let mut sql = format!("CREATE OR REPLACE VIEW {view} AS\nSELECT {all},\n    jsonb_build_object(\n");
    for (number, (name, column)) in stored.iter().zip(&columns).enumerate() {
        let comma = if number + 1 < stored.len() { "," } else { "" };
        let _ = writeln!(sql, "        {}, {column}{comma}", literal(name)?);
    }
    let _ = writeln!(sql, "    ) AS data\nFROM {};", path(table)?);
    Ok(sql)
}
