//! `svc completions`: scripts that complete commands in a shell.

use clap_complete::{Shell, generate};

use crate::failure::Result;
use crate::terminal;

const EXAMPLES: &str = "\
Examples:
  svc completions bash > ~/.local/share/bash-completion/completions/svc
  svc completions zsh > ~/.zfunc/_svc
  svc completions fish > ~/.config/fish/completions/svc.fish";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, mut command: clap::Command) -> Result<()> {
    // In memory first, because `generate` panics if its output is closed.
    let mut script = Vec::new();
    generate(arguments.shell, &mut command, "svc", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))
}
