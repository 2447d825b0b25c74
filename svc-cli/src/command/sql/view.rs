//! `svc sql generate-view`.

use super::{GenerateView, identifier, path, put};
use crate::failure::{Failure, Result};
use crate::program::{self, Description, Type};
use crate::project::Project;

pub(super) fn run(arguments: &GenerateView) -> Result<()> {
    let project = Project::open()?;
    let program = program::build(&project, &arguments.choice)?;
    let description = program::describe(&project, &program, None)?;
    let ty = find(
        &description,
        &arguments.type_name,
        arguments.module.as_deref(),
    )?;

    put(&write(ty, arguments)?, arguments.output.as_ref())
}

pub(super) fn find<'a>(
    description: &'a Description,
    name: &str,
    module: Option<&str>,
) -> Result<&'a Type> {
    let in_module =
        |ty: &&Type| module.is_none_or(|module| ty.path.starts_with(&format!("{module}::")));
    let found = description
        .types
        .iter()
        .filter(in_module)
        .find(|ty| ty.name == name);

    found.ok_or_else(|| {
        let names = description
            .types
            .iter()
            .map(|ty| ty.path.as_str())
            .collect::<Vec<_>>()
            .join(", ");
        Failure::new(format!("the schema has no type `{name}` with rows"))
            .hint(format!("it has {names}"))
    })
}

/// The view of a type over a table.
pub(super) fn of_table(ty: &Type, table: &str) -> Result<String> {
    sql(ty, &ty.source, table, &[])
}

fn write(ty: &Type, arguments: &GenerateView) -> Result<String> {
    let table = arguments
        .table
        .clone()
        .unwrap_or_else(|| program::table_of(&ty.source, &ty.name));
    let of_table = arguments.table.as_deref().map(view_of);
    let view = arguments
        .view
        .clone()
        .or(of_table)
        .unwrap_or_else(|| ty.source.clone());

    let sql = sql(ty, &view, &table, &arguments.exclude)?;
    let comment = "The policies of its table apply to the view's caller.";

    Ok(if arguments.no_comments {
        sql
    } else {
        format!("-- The rows of {}. {comment}\n{sql}", ty.name)
    })
}

/// The view over a table: `v_user` for `tb_user`, in the same schema.
fn view_of(table: &str) -> String {
    let (schema, name) = table
        .rsplit_once('.')
        .map_or((None, table), |(schema, name)| (Some(schema), name));
    let name = format!("v_{}", name.strip_prefix("tb_").unwrap_or(name));
    schema.map_or_else(|| name.clone(), |schema| format!("{schema}.{name}"))
}

fn sql(ty: &Type, view: &str, table: &str, excluded: &[String]) -> Result<String> {
    let is_left_out = |name: &str| excluded.iter().any(|excluded| excluded == name);

    // A relation is joined by its key, which is not a field.
    let fields = ty.fields.iter().filter(|field| !is_left_out(&field.rust));
    let keys = fields
        .flat_map(program::Field::reads)
        .filter(|stored| !is_left_out(stored));
    let mut stored: Vec<&str> = Vec::new();
    for key in keys {
        if !stored.contains(&key) {
            stored.push(key);
        }
    }

    if stored.is_empty() {
        return Err(Failure::new(format!("no field of {} is left", ty.name)));
    }

    let columns = stored
        .iter()
        .map(|name| identifier(name))
        .collect::<Result<Vec<_>>>()?;
    let (view, table) = (path(view)?, path(table)?);

    // Without `security_invoker`, a view reads its table as the owner of the view, and the policies
    // for the reader do not apply.
    Ok(format!(
        "CREATE OR REPLACE VIEW {view} WITH (security_invoker = true) AS\nSELECT {}\nFROM {table};\n",
        columns.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::view_of;

    #[test]
    fn a_view_has_the_name_of_its_table() {
        assert_eq!(view_of("tb_person"), "v_person");
        assert_eq!(view_of("app.tb_person"), "app.v_person");
        assert_eq!(view_of("people"), "v_people");
    }
}
