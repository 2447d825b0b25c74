//! `svc db psql`.

use std::io::ErrorKind;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::failure::{Failure, Result};
use crate::project::Project;

/// Replaces this process with psql.
pub(super) fn run(project: &Project, arguments: &[String]) -> Result<()> {
    let error = Command::new("psql")
        .arg(project.database_url()?)
        .args(arguments)
        .exec();
    let failure = Failure::new(format!("cannot run psql: {error}"));
    Err(if error.kind() == ErrorKind::NotFound {
        failure.hint("install it: apt install postgresql-client, or brew install libpq")
    } else {
        failure
    })
}
