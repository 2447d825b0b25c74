//! `svc db psql`.

use std::io::ErrorKind;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::database;
use crate::failure::{Failure, Result};
use crate::project::Project;

/// Replaces this process with psql.
pub(super) fn run(project: &Project, arguments: &[String]) -> Result<()> {
    let (url, password) = database::without_password(&project.database_url()?)?;

    // Other users of this machine can read the arguments of a process, but not its environment.
    let error = Command::new("psql")
        .arg(url)
        .args(arguments)
        .envs(password.map(|password| ("PGPASSWORD", password)))
        .exec();
    let failure = Failure::new(format!("cannot run psql: {error}"));
    Err(if error.kind() == ErrorKind::NotFound {
        failure.hint("install it: apt install postgresql-client, or brew install libpq")
    } else {
        failure
    })
}
