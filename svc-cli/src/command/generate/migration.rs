//! `svc generate migration`.

use minijinja::context;

use super::{Migration, is_plain, render};
use crate::command::migrate;
use crate::failure::{Failure, Result};
use crate::program::snake_case;
use crate::project::Project;
use crate::terminal;

/// The maximum length of a table's name, so that PostgreSQL does not truncate the names of its
/// indexes and functions.
const MAX_LENGTH: usize = 63 - "update__updated_at".len();

pub(super) fn run(project: &Project, arguments: &Migration) -> Result<()> {
    let entity = snake_case(&arguments.entity_name);
    let table = arguments
        .table
        .clone()
        .unwrap_or_else(|| format!("tb_{}", entity.strip_prefix("tb_").unwrap_or(&entity)));
    if !is_plain(&table) || table.len() > MAX_LENGTH {
        let failure = Failure::usage(format!("`{table}` cannot be the name of the table"));
        return Err(failure.hint(format!(
            "a table's name has at most {MAX_LENGTH} lower-case letters, digits and `_`: svc generate migration product"
        )));
    }

    let view = format!("v_{}", table.strip_prefix("tb_").unwrap_or(&table));
    let text = render(
        include_str!("../../../templates/generate/migration.sql.jinja"),
        context! { entity => entity, table => table, view => view },
    )?;
    let path = migrate::create(project, &format!("create_{table}"), &text)?;
    terminal::print(&format!("{path}\n"))?;
    terminal::hint("apply it: svc migrate up");

    Ok(())
}
