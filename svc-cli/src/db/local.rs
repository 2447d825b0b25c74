//! Whether the project's database is there, and whether svc may start it.

use std::net::TcpStream;

use super::daemon;
use crate::database::{self, Target};
use crate::failure::{Failure, Result};
use crate::project::Project;

/// Whether the database answers.
pub(crate) async fn is_reachable(target: &Target) -> Result<bool> {
    Ok(database::open(target).await.is_ok())
}

/// Refuses to start a server where one of somebody else's is meant, or has the port.
pub(crate) fn refuse_others(project: &Project, target: &Target) -> Result<()> {
    let why = || match database::block_on(database::open(target)) {
        Ok(_) => Failure::new("the database has come up meanwhile").hint("try again"),
        Err(failure) => failure,
    };
    if !target.is_local() {
        return Err(why());
    }
    let taken = TcpStream::connect(("127.0.0.1", target.port())).is_ok();
    if taken && !daemon::is_running(project)? {
        let port = target.port();
        return Err(why().hint(format!(
            "another server has port {port}; stop it, or choose another port for this project in .env and docker-compose.yml"
        )));
    }
    Ok(())
}
