//! `svc db status`.

use serde_json::json;

use super::daemon;
use crate::database::{self, Target};
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;

pub(super) fn run(project: &Project, as_json: bool) -> Result<()> {
    let target = Target::parse(&project.database_url()?)?;
    let version = database::block_on(async {
        let client = database::open(&target).await?;
        let row = client.query_one("SHOW server_version", &[]).await;
        let row = row.map_err(|error| Failure::new(database::reason(&error)))?;
        Ok(row.get::<_, String>(0))
    });

    let is_own = daemon::is_running(project)?;
    let place = database::shown(target.config());
    if as_json {
        let error = version.as_ref().err().map(Failure::message);
        let status = json!({ "database": target.database(), "port": target.port(), "reachable": version.is_ok(),
            "version": version.as_ref().ok(), "started_by_svc": is_own, "error": error });
        return terminal::print(&format!("{status:#}\n"));
    }

    let by = if is_own {
        ", started by svc db start"
    } else {
        ""
    };

    terminal::print(&format!("{place}: PostgreSQL {}{by}\n", version?))
}
