//! `svc generate schema`.

use std::fs;

use super::Schema;
use crate::failure::{Failure, Result};
use crate::program;
use crate::project::Project;
use crate::terminal;

pub(super) fn run(project: &Project, arguments: &Schema) -> Result<()> {
    let program = program::build(project, &arguments.choice)?;
    let sdl = program::describe(project, &program, None)?.sdl;
    if arguments.output == "-" {
        return terminal::print(&sdl);
    }

    fs::write(&arguments.output, sdl)
        .map_err(Failure::io(format!("write {}", arguments.output)))?;
    terminal::done(format_args!("wrote {}", arguments.output));

    Ok(())
}
