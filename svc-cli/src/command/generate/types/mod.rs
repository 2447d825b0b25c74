//! `svc generate types`: structs for existing views and tables.

mod catalog;
mod model;
mod names;
mod origin;
mod relations;
mod scalar;
mod write;

use std::fs;
use std::io::Write as _;
use std::path::Path;

use super::{Types, formatted};
use crate::database;
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;

pub(super) fn run(project: &Project, arguments: &Types) -> Result<()> {
    let url = project.database_url()?;
    let catalog = database::block_on(async {
        let client = database::connect(&url).await?;
        match arguments.from_view.as_slice() {
            [] => catalog::all(&client, &arguments.schema).await,
            names => catalog::named(&client, names).await,
        }
    })?;

    for left_out in &catalog.left_out {
        terminal::warning(left_out);
    }

    if catalog.sources.is_empty() {
        let failure = Failure::new("the database has no tables or views to read");
        return Err(failure.hint(
            "svc migrate up creates those of db/; --schema selects a schema other than `public`",
        ));
    }

    let types = model::types(&catalog);
    let text = formatted(&write::module(&types, &catalog.enums));
    if arguments.output == "-" {
        return terminal::print(&text);
    }

    put(project, &arguments.output, &text)?;
    terminal::done(format_args!(
        "wrote {} types to {}",
        types.len(),
        arguments.output
    ));

    let module = Path::new(&arguments.output)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy();
    terminal::hint(format_args!(
        "in src/lib.rs, write `pub mod {module};` and give the options to `{module}::add(options)`"
    ));
    terminal::hint(
        "clients can read all of it; remove the types and fields that they must not read",
    );

    Ok(())
}

/// Writes a new file; an existing file may have been edited since it was generated.
fn put(project: &Project, output: &str, text: &str) -> Result<()> {
    let mut file = fs::File::create_new(project.root().join(output)).map_err(|error| {
        Failure::new(format!("cannot create {output}: {error}"))
            .hint("move the existing file out of the way, or name another: --output src/tables.rs")
    })?;
    file.write_all(text.as_bytes())
        .map_err(Failure::io(format!("write {output}")))
}
