//! `svc man`: manual pages.

use std::fs;
use std::path::PathBuf;

use clap_mangen::Man;

use crate::failure::{Failure, Result};
use crate::terminal;

const EXAMPLES: &str = "\
Examples:
  svc man | man -l -
  svc man --output ~/.local/share/man/man1";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The folder for the pages of all commands; by default, only the page of `svc` is printed.
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, command: clap::Command) -> Result<()> {
    let Some(folder) = &arguments.output else {
        let mut page = Vec::new();
        Man::new(command)
            .render(&mut page)
            .map_err(Failure::io("write the manual page"))?;
        return terminal::print(&String::from_utf8_lossy(&page));
    };

    fs::create_dir_all(folder).map_err(Failure::io(format!("create {}", folder.display())))?;
    clap_mangen::generate_to(command, folder)
        .map_err(Failure::io(format!("write into {}", folder.display())))?;
    terminal::done(format_args!(
        "wrote the manual pages to {}",
        folder.display()
    ));

    Ok(())
}
