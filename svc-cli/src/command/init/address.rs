//! The address of a new project's database.

use super::Name;
use crate::database::Target;

/// The port if no free one is found.
const USUAL_PORT: u16 = 5432;

/// The databases of a project: the given one, and its own.
#[derive(Debug)]
pub(crate) struct Address {
    /// The URL for `.env`.
    pub(super) url: String,
    /// The URL of the project's own database, the same for every developer.
    pub(super) own: String,
    /// The port of the project's own database.
    pub(super) port: u16,
}

impl Address {
    /// The given database, or one at a port reserved for the project: two projects with the same
    /// port share a server, and any damage to its data.
    pub(super) fn choose(name: &Name, given: Option<String>) -> Self {
        let here = given
            .as_deref()
            .and_then(|url| Target::parse(url).ok())
            .filter(Target::is_local);
        let port = here
            .map(|target| target.port())
            .or_else(svc_embedded::free_port)
            .unwrap_or(USUAL_PORT);
        let own = format!("postgresql://svc:svc@localhost:{port}/{}", name.database);
        Self {
            url: given.unwrap_or_else(|| own.clone()),
            own,
            port,
        }
    }
}
