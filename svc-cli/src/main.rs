//! The command-line tool of svc.

use clap::Parser;

/// Scaffolds, runs, checks and explains GraphQL services over PostgreSQL views.
#[derive(Debug, Parser)]
#[command(name = "svc", version, arg_required_else_help = true)]
struct Arguments {}

fn main() {
    Arguments::parse();
}
